import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeTeam } from "../../../store/fixtures.ts";
import { type Pages, startPages } from "../pages.ts";

let pages: Pages;
beforeAll(async () => {
  pages = await startPages();
});
afterAll(() => pages.close());

test("A form that is refused offers the libraries of one name in two teams as one, which is taken once it is sent again", async () => {
  for (const team of ["payments", "research"]) {
    await pages.send("POST", "/teams", { name: team, spec: {} });
    await pages.send("POST", "/libraries", { name: "handbook", team, spec: {} });
  }
  const form = {
    ...{ team: "payments", preset: "MCPReadOnly", libraryAccess: "Restricted", libraries: "handbook" },
    once: randomBytes(18).toString("base64url"),
  };
  const refused = await pages.post("/keys/new", { ...form, name: "Not A Name" });
  const boxes = [...refused.text.matchAll(/name="libraries" value="handbook" checked><label[^>]*>([^<]+)/g)];
  expect([refused.status, boxes.map(([, title]) => title)]).toEqual([422, ["handbook (payments, research)"]]);
  // As a page sends it that was opened before an upgrade.
  const twice = new URLSearchParams({ ...form, name: "a-name" });
  twice.append("libraries", "handbook");
  expect((await pages.post("/keys/new", twice)).status).toBe(201);
});

test("The refusal of an edit says nothing of the key's team where another cluster has one of that name", async () => {
  await makeTeam(pages.store, { name: "twins", cluster: "one" });
  const { teamId } = await makeTeam(pages.store, { name: "twins", cluster: "two" });
  const spec = { preset: "MCPReadOnly" };
  const { id } = (await pages.send("POST", "/keys", { name: "reader", team: teamId, spec })).body;
  const [, etag = ""] = /name="etag" value="([^"]+)"/.exec((await pages.get(`/keys/${id}/edit`)).text) ?? [];
  const { status, text } = await pages.post(`/keys/${id}/edit`, {
    ...{ etag: etag.replaceAll("&quot;", '"'), preset: "MCPReadOnly", networks: "nonsense" },
    ...{ defaultLibrary: "absent" },
  });
  expect([status, text.includes("Team: "), text.includes("there is no library absent")]).toEqual([422, false, true]);
});
