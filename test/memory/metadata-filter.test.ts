import { expect, test } from "vitest";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { memoryServer } from "./memory-server.ts";

const opened = memoryServer(memoryRoutes);

const get = (path: string) => opened().call("GET", path);
const found = async (path: string) =>
  (await get(path)).json.items.map(({ content }: { content: string }) => content) as string[];

async function save(content: string, metadata: Readonly<Record<string, unknown>>): Promise<void> {
  expect((await opened().call("POST", "/atoms", { content, metadata })).status).toBe(201);
}

test("metadata.NAME=value narrows lists and searches to atoms with all of these, as text", async () => {
  await save("The kettle is old.", { ticket: 7, team: "ops" });
  await save("The kettle is new.", { ticket: "7", "a.b&c": "d=e" });
  await save("The kettle is lost.", { ticket: true });
  const longest = "🔑".repeat(64);
  await save("The kettle has a key.", { [longest]: "yes" });
  expect(await found("/atoms?metadata.ticket=7")).toEqual(["The kettle is new.", "The kettle is old."]);
  expect(await found("/atoms?metadata.ticket=7&metadata.team=ops")).toEqual(["The kettle is old."]);
  expect(await found("/atoms?metadata.ticket=true&sort=oldest")).toEqual(["The kettle is lost."]);
  expect(await found(`/atoms?${new URLSearchParams({ "metadata.a.b&c": "d=e" })}`)).toEqual(["The kettle is new."]);
  expect(await found("/atoms/search?q=kettle&metadata.team=ops")).toEqual(["The kettle is old."]);
  expect(await found(`/atoms?${new URLSearchParams({ [`metadata.${longest}`]: "yes" })}`)).toEqual([
    "The kettle has a key.",
  ]);
  expect(await found("/atoms?metadata.team=")).toHaveLength(4);
  expect(await found("/atoms?metadata.team=OPS")).toEqual([]);
});

test("a cursor is bound to the metadata, in whichever order it is given", async () => {
  for (const n of [1, 2]) await save(`Statement ${n}.`, { ticket: "7", team: "ops" });
  const { nextCursor } = (await get("/atoms?limit=1&metadata.ticket=7&metadata.team=ops")).json;
  expect(await found(`/atoms?limit=1&metadata.team=ops&metadata.ticket=7&cursor=${nextCursor}`)).toEqual([
    "Statement 1.",
  ]);
  expect((await get(`/atoms?limit=1&metadata.team=ops&cursor=${nextCursor}`)).status).toBe(404);
});

test("what no metadata can be is 400, and says what to write", async () => {
  for (const [query, detail] of [
    ["metadata.ticket=1&metadata.ticket=2", "Each name of metadata is asked for with one value"],
    [`metadata.ticket=${"x".repeat(4_097)}`, "Each name of metadata is asked for with one value"],
    ["metadata.ticket=%00", "Each name of metadata is asked for with one value"],
    ["metadata.=7", "A name of metadata has 1 to 64 characters"],
    [`metadata.${"x".repeat(65)}=7`, "A name of metadata has 1 to 64 characters"],
    [`metadata.${encodeURIComponent("🔑".repeat(65))}=7`, "A name of metadata has 1 to 64 characters"],
    [Array.from({ length: 17 }, (_, n) => `metadata.n${n}=7`).join("&"), "At most 16 names of metadata"],
    ["metadata=7", "metadata.NAME"],
    ["metadata%5Bticket%5D=7", "metadata.NAME"],
  ]) {
    const { status, json } = await get(`/atoms?${query}`);
    expect(status, query).toBe(400);
    expect(json.detail).toContain(detail);
  }
});
