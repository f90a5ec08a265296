import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../../../../../store/database/store.ts";
import { openMigrated } from "../../../../env/database/engines.ts";
import { unique } from "../../../../store/fixtures.ts";
import { type Api, startApi } from "../../api.ts";

let store: Store;
let api: Api;
let team: string;
beforeAll(async () => {
  store = await openMigrated();
  api = await startApi(store);
  team = unique("team");
  await api.send("POST", "/teams", { name: team, spec: { namespaces: ["ns-one", "ns-two"] } });
});
afterAll(async () => {
  await api.close();
  await store.close();
});

const library = async (name: string, namespace = "") =>
  (await api.send("POST", "/libraries", { name, namespace, team, spec: {} })).body.id;
const key = async (spec: object) => (await api.send("POST", "/keys", { name: unique("key"), team, spec })).body;
const state = ({ id, spec }: { id: string; spec: object }, state: string) =>
  api.send("PUT", `/keys/${id}`, { spec: { ...spec, state } }, { "if-match": "*" });

test("b429: a key that works is suspended although a library that it names is gone", async () => {
  const [kept, gone] = [unique("kept"), unique("gone")];
  await library(kept);
  const id = await library(gone);
  const libraryAccess = { mode: "Restricted", libraryRefs: [{ name: kept }, { name: gone }] };
  const made = await key({ preset: "MCPReadOnly", libraryAccess });
  await api.send("DELETE", `/libraries/${id}`, {});
  expect(await api.tryKey(made.secret)).toBe(200);
  expect((await state(made, "Suspended")).status).toBe(200);
  expect(await api.tryKey(made.secret)).toBe(401);
});

test("b429: so is a key whose library has a namesake by now", async () => {
  const name = unique("twice");
  await library(name, "ns-one");
  const made = await key({ preset: "MCPReadOnly", mcpDefaultLibraryRef: { name } });
  await library(name, "ns-two");
  expect((await state(made, "Suspended")).status).toBe(200);
  expect(await api.tryKey(made.secret)).toBe(401);
});
