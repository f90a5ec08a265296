import { afterAll, beforeAll, expect, test } from "vitest";
import { mcpRoutes } from "../../../server/mcp/routes.ts";
import { memoryRoutes } from "../../../server/memory/routes.ts";
import type { Store } from "../../../store/database/store.ts";
import { removeLibrary, saveLibrary } from "../../../store/memory/libraries.ts";
import { run } from "../../store/fixtures.ts";
import { type Harness, startHarness } from "../harness.ts";
import { callTool } from "../mcp/tool-calls.ts";
import { openMemoryStore } from "./memory-store.ts";

let store: Store;
let server: Harness;
let key: string;
beforeAll(async () => {
  store = await openMemoryStore();
  server = await startHarness({ mounts: [memoryRoutes, mcpRoutes].map((routes) => ({ at: "", routes })), store });
  key = server.addKey();
});
afterAll(async () => {
  await server.close();
  await store.close();
});

test.each([
  ["Retain", ["Still here."]],
  ["Delete", []],
] as const)(
  "the atoms of a library that is deleted with %s, and declared again, are these: %j",
  async (policy, kept) => {
    const place = { cluster: "c", namespace: "a-dev", name: `of-${policy.toLowerCase()}` };
    const declare = (ownerUid: string) => {
      const draft = { ...place, ownerUid, teamId: "team-a", displayName: "", description: "", deletionPolicy: policy };
      return run(store, (tx) => saveLibrary(tx, draft));
    };
    const list = async () => {
      const response = await fetch(`${server.url}/atoms?library=${place.name}`, { headers: { "x-api-key": key } });
      return { status: response.status, json: JSON.parse(await response.text()) };
    };
    await declare("uid-1");
    await callTool(server, key, "memory_save_atom", { content: "Still here.", library: place.name });
    await run(store, (tx) => removeLibrary(tx, { ...place, ownerUid: "uid-1", policy }));
    expect((await list()).status).toBe(404);
    const gone = await callTool(server, key, "memory_list", { library: place.name });
    expect(gone).toMatchObject({ isError: true, text: expect.stringContaining("no library") });
    await declare("uid-2");
    const { json } = await list();
    expect(json.items.map((atom: { content: string }) => atom.content)).toEqual(kept);
    const found = await callTool(server, key, "memory_search", { query: "still", library: place.name });
    expect(found.structured.items).toHaveLength(kept.length);
  },
);
