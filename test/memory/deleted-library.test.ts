import { expect, test } from "vitest";
import { mcpRoutes } from "../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { removeLibrary, saveLibrary } from "../../store/libraries/libraries.ts";
import { run } from "../store/fixtures.ts";
import { callTool } from "./mcp/tool-calls.ts";
import { memoryServer } from "./memory-server.ts";

const opened = memoryServer(memoryRoutes, mcpRoutes);

test.each([
  ["Retain", ["Still here."]],
  ["Delete", []],
] as const)(
  "the atoms of a library that is deleted with %s, and declared again, are these: %j",
  async (policy, kept) => {
    const { store, server, key } = opened();
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
