import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mintKey } from "../../../../domain/key/secret/key-format.ts";
import { type Pages, startPages } from "../pages.ts";

let pages: Pages;
beforeAll(async () => {
  pages = await startPages();
  await pages.send("POST", "/teams", { name: "payments", spec: {} });
  await pages.send("POST", "/libraries", { name: "docs", team: "payments", spec: {} });
});
afterAll(() => pages.close());

const FIELDS = ["name", "displayName", "owner", "models", "networks", "budgetAmount", "gateway", "libraries"];

test.for(FIELDS)(
  "b78: the form of a new key refuses a key that was pasted into %s, and does not repeat it",
  async (name) => {
    const pasted = mintKey(randomBytes);
    const { status, text } = await pages.post("/keys/new", {
      ...{ team: "payments", name: "reader", preset: "GatewayDefault", libraryAccess: "Restricted", libraries: "docs" },
      ...{ budgetOf: "tokens", budgetAmount: "5", once: randomBytes(18).toString("base64url"), [name]: pasted },
    });
    expect([status, text.includes(pasted)]).toEqual([422, false]);
  },
);

test("b78: the form that edits a key refuses a key that was pasted into it, and does not repeat it", async () => {
  const pasted = mintKey(randomBytes);
  const key = { name: "writer", team: "payments", spec: { preset: "MCPReadOnly" } };
  const { id } = (await pages.send("POST", "/keys", key)).body;
  const etag = /name="etag" value="([^"]+)"/.exec((await pages.get(`/keys/${id}/edit`)).text)?.[1] ?? "";
  const form = { etag: etag.replaceAll("&quot;", '"'), preset: "MCPReadOnly", displayName: pasted };
  const { status, text } = await pages.post(`/keys/${id}/edit`, form);
  expect([status, text.includes(pasted), text.includes("Display name: holds what looks like a key")]).toEqual([
    ...[422, false, true],
  ]);
});
