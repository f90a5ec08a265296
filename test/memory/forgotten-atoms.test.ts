import { expect, test } from "vitest";
import { scopeSet } from "../../domain/access/scopes.ts";
import { mcpRoutes } from "../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { callTool } from "./mcp/tool-calls.ts";
import { memoryServer } from "./memory-server.ts";

const opened = memoryServer(memoryRoutes, mcpRoutes);
const UNKNOWN = "00000000-0000-7000-8000-000000000000";

/** @returns the id of an atom that was forgotten, and is kept */
async function forgotten(): Promise<string> {
  const { json } = await opened().call("POST", "/atoms", { content: "one" });
  const { isError } = await callTool(opened().server, opened().key, "memory_forget_atom", { id: json.id });
  expect(isError).toBe(false);
  return json.id;
}
const restore = async (id: string, as?: string) => {
  const { status, json } = await opened().call("POST", `/atoms/${id}/restore`, undefined, as);
  const { requestId: _requestId, ...shown } = json;
  return { status, json: shown };
};
const remove = async (id: string) => {
  const headers = { "x-api-key": opened().key };
  return (await fetch(`${opened().server.url}/atoms/${id}`, { method: "DELETE", headers })).status;
};

test("b58: a forgotten atom is 404 by its id as one that never was, and to other teams and libraries when it is restored", async () => {
  const id = await forgotten();
  for (const path of [`/atoms/${id}`, `/atoms/${id}/revisions`]) {
    expect((await opened().call("GET", path)).status).toBe(404);
  }
  const change = { id, revision: 1, content: "x" };
  expect((await opened().call("PATCH", "/atoms", change)).status).toBe(404);
  const nothing = await restore(UNKNOWN);
  expect(nothing.status).toBe(404);
  const { server } = opened();
  expect(await restore(id, server.addKey({ teamId: "team-b", namespace: "b" }))).toEqual(nothing);
  expect(await restore(id, server.addKey({ libraryIds: ["lib-diary"] }))).toEqual(nothing);
  const reader = server.addKey({ scopes: scopeSet(["memory:read"]) });
  expect((await restore(id, reader)).status).toBe(403);
  expect((await restore(id)).json).toMatchObject({ id, content: "one" });
});

test("a key that only writes restores, and learns nothing of what the atom says", async () => {
  const id = await forgotten();
  const writer = opened().server.addKey({ scopes: scopeSet(["memory:write"]) });
  expect(await restore(id, writer)).toEqual({ status: 200, json: { id, updated: expect.any(String), revision: 1 } });
});

test("DELETE ends for ever what is kept", async () => {
  const id = await forgotten();
  expect([await remove(id), await remove(id)]).toEqual([204, 404]);
  expect((await restore(id)).status).toBe(404);
});
