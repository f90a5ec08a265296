import { describe, expect, test } from "vitest";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { memoryServer } from "./memory-server.ts";

const opened = memoryServer(memoryRoutes);

const call = (path: string, as = opened().key) => opened().call("GET", path, undefined, as);
async function save(fields: Readonly<Record<string, unknown>>): Promise<string> {
  const { status, json } = await opened().call("POST", "/atoms", { content: "A statement.", ...fields });
  expect(status, json.detail).toBe(201);
  return json.id;
}
const links = (rel: string, ...ids: string[]) => ({ links: ids.map((id) => ({ rel, id })) });

describe("GET /atoms/{id}/neighbours", () => {
  test("has what an atom links to and what links to it, each once with all links between, the newest first", async () => {
    const [one, other] = [await save({ content: "one" }), await save({ content: "other", library: "diary" })];
    const id = await save({ links: [...links("explains", one, other).links, { rel: "source", id: one }] });
    const back = await save({ content: "back", ...links("answers", id), library: "a-prod/ops" });
    await save({ content: "no neighbour", ...links("explains", one) });
    const { json } = await call(`/atoms/${id}/neighbours`);
    const out = (rel: string) => ({ rel, direction: "out" });
    expect(json).toMatchObject({
      items: [
        { id: back, content: "back", library: "a-prod/ops", relations: [{ rel: "answers", direction: "in" }] },
        { id: other, library: "diary", relations: [out("explains")] },
        { id: one, relations: [out("explains"), out("source")] },
      ],
      nextCursor: null,
    });
    expect((await call(`/atoms/${one}/neighbours`)).json.items).toHaveLength(2);
  });

  test("is read page by page, and a cursor of another atom's is 404", async () => {
    const id = await save({ content: "hub" });
    const spokes = [];
    for (let n = 0; n < 5; n++) spokes.push(await save({ content: `spoke ${n}`, ...links("explains", id) }));
    const seen: string[] = [];
    let cursor = "";
    do {
      const { json } = await call(`/atoms/${id}/neighbours?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(json.items.length).toBeLessThanOrEqual(2);
      seen.push(...json.items.map((item: { id: string }) => item.id));
      cursor = json.nextCursor;
      if (cursor) expect((await call(`/atoms/${spokes[0]}/neighbours?cursor=${cursor}`)).status).toBe(404);
    } while (cursor);
    expect(seen).toEqual(spokes.reverse());
  });

  test("b109: a page ends at 1 MiB, and the next goes on there", async () => {
    const id = await save({ content: "hub" });
    for (let n = 0; n < 20; n++) await save({ content: "\\".repeat(60_000), ...links("explains", id) });
    const first = await call(`/atoms/${id}/neighbours?limit=100`);
    expect(JSON.stringify(first.json).length).toBeLessThanOrEqual(1 << 20);
    expect(first.json.items.length).toBeLessThan(20);
    const second = await call(`/atoms/${id}/neighbours?limit=100&cursor=${first.json.nextCursor}`);
    const rest = await call(`/atoms/${id}/neighbours?limit=100&cursor=${second.json.nextCursor}`);
    const all = [first, second, rest].flatMap(({ json }) => json.items ?? []);
    expect(new Set(all.map((item) => item.id)).size).toBe(20);
  });

  test("b58: shows nothing of a library that the key may not reach, and is 404 for an atom there", async () => {
    const hidden = await save({ content: "hidden", library: "handbook" });
    const id = await save({ library: "diary", ...links("explains", hidden) });
    await save({ content: "hidden too", library: "handbook", ...links("explains", id) });
    const diaryOnly = opened().server.addKey({ libraryIds: ["lib-diary"] });
    expect((await call(`/atoms/${id}/neighbours`, diaryOnly)).json).toEqual({ items: [], nextCursor: null });
    expect((await call(`/atoms/${hidden}/neighbours`, diaryOnly)).status).toBe(404);
    expect((await call(`/atoms/${id}/neighbours`, opened().server.addKey({ teamId: "team-b" }))).status).toBe(404);
  });
});
