import { beforeEach, describe, expect, test } from "vitest";
import { scopeSet } from "../../domain/access/scopes.ts";
import { mcpRoutes } from "../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { callTool } from "./mcp/tool-calls.ts";
import { memoryServer } from "./memory-server.ts";

const opened = memoryServer(mcpRoutes, memoryRoutes);

const LIBRARIES = { handbook: "lib-handbook", diary: "lib-diary", "a-prod/ops": "lib-ops" } as const;
type Name = keyof typeof LIBRARIES;

const ids: Record<Name, string> = { handbook: "", diary: "", "a-prod/ops": "" };
beforeEach(async () => {
  for (const library of ["handbook", "diary", "a-prod/ops"] as const) {
    const { json } = await opened().call("POST", "/atoms", { content: `The kettle of ${library}.`, library });
    ids[library] = json.id;
  }
});

/** The libraries that calls of a key of its own have used. */
async function usedBy(call: (key: string) => Promise<unknown>, fields: object = {}): Promise<string[]> {
  const { server } = opened();
  const key = server.addKey({ teamDefaultLibraryId: "lib-handbook", ...fields });
  const before = server.libraries.length;
  await call(key);
  const noted = server.libraries.slice(before).map((line) => line.split(" ")[1] ?? "");
  return [...new Set(noted)].toSorted();
}

const rest =
  (method: string, path: string | (() => string), body?: unknown) =>
  (key: string): Promise<unknown> =>
    fetch(opened().server.url + (typeof path === "string" ? path : path()), {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).then((response) => response.text());
const tool =
  (name: string, args: () => Readonly<Record<string, unknown>>) =>
  (key: string): Promise<unknown> =>
    callTool(opened().server, key, name, args());
const ALL = ["lib-diary", "lib-handbook", "lib-ops"];

describe("a call of the memory over REST uses", () => {
  test.each<[what: string, call: (key: string) => Promise<unknown>, used: readonly string[]]>([
    ["the library that it names", rest("GET", "/atoms?library=diary"), ["lib-diary"]],
    ["also where nothing is found in it", rest("GET", "/atoms/search?q=xylophone&library=diary"), ["lib-diary"]],
    ["of all those that its answer is from", rest("GET", "/atoms/search?q=diary"), ["lib-diary"]],
    ["all where its list is from all", rest("GET", "/atoms"), ALL],
    ["none where it finds nothing in any", rest("GET", "/atoms/search?q=xylophone"), []],
    ["none that is not there for its key", rest("GET", "/atoms?library=elsewhere"), []],
    ["that of an atom", rest("GET", () => `/atoms/${ids.diary}`), ["lib-diary"]],
    ["that of revisions", rest("GET", () => `/atoms/${ids["a-prod/ops"]}/revisions`), ["lib-ops"]],
    ["that of neighbours", rest("GET", () => `/atoms/${ids.diary}/neighbours`), ["lib-diary"]],
    ["the one that it exports", rest("GET", "/atoms/export?library=diary"), ["lib-diary"]],
    ["the default where it saves and names none", rest("POST", "/atoms", { content: "Tea." }), ["lib-handbook"]],
    ["that of an atom that it deletes", rest("DELETE", () => `/atoms/${ids.diary}`), ["lib-diary"]],
    ["none where there is nothing to delete", rest("DELETE", "/atoms/00000000-0000-7000-8000-000000000000"), []],
  ])("%s", async (_what, call, used) => {
    expect(await usedBy(call)).toEqual(used);
  });
});

describe("a call of the memory over MCP uses", () => {
  test.each<[what: string, call: (key: string) => Promise<unknown>, used: readonly string[]]>([
    ["the library that it names", tool("memory_list", () => ({ library: "diary" })), ["lib-diary"]],
    ["the default where it names none", tool("memory_search", () => ({ query: "xylophone" })), ["lib-handbook"]],
    [
      "of all those that its answer is from",
      tool("memory_search", () => ({ query: "diary", library: "*" })),
      ["lib-diary"],
    ],
    ["all where its briefing is of all", tool("memory_wake_up", () => ({ library: "*" })), ALL],
    ["none where it lists them", tool("memory_libraries", () => ({})), []],
    ["that of an atom", tool("memory_recall", () => ({ id: ids.diary })), ["lib-diary"]],
    ["that of a history", tool("memory_history", () => ({ id: ids["a-prod/ops"] })), ["lib-ops"]],
    [
      "the one that it saves in",
      tool("memory_save_atom", () => ({ content: "Tea.", library: "diary" })),
      ["lib-diary"],
    ],
    [
      "that of an atom that it corrects",
      tool("memory_correct_atom", () => ({ id: ids.diary, content: "Tea." })),
      ["lib-diary"],
    ],
    ["that of an atom that it forgets", tool("memory_forget_atom", () => ({ id: ids.diary })), ["lib-diary"]],
  ])("%s", async (_what, call, used) => {
    expect(await usedBy(call)).toEqual(used);
  });
});

test("a call for a subject uses the library that all share, whose part the subject's atoms are in", async () => {
  const fields = { scopes: scopeSet(["memory:read", "memory:write"]), subject: { mode: "Bound", subject: "ana" } };
  const used = await usedBy(async (key) => {
    await rest("POST", "/atoms", { content: "Ana drinks tea.", library: "diary" })(key);
    await tool("memory_search", () => ({ query: "tea", library: "*" }))(key);
  }, fields);
  expect(used).toEqual(["lib-diary"]);
});
