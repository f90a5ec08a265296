import type { ProblemCode } from "../../../server/http/problems/catalogue.ts";
import { unique } from "../../store/fixtures.ts";
import type { Call } from "./described.ts";
import { gatewayCalls } from "./gateway-calls.ts";
import { managementCalls } from "./management-calls.ts";
import type { World } from "./world.ts";

export type Make = (world: World) => Call | Promise<Call>;

/** How an operation is called: as it is meant, and so that it refuses with what is its own to refuse with. */
export type Calls = { readonly valid: Make; readonly refused?: Partial<Record<ProblemCode, Make>> };

/** A request with a key. */
export function withKey({ key }: World, method: string, path: string, body?: object): Call {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  return { method, path, headers: { "x-api-key": key, ...json }, ...(body && { body: JSON.stringify(body) }) };
}

/** Each described operation by its name. A new one is added here. */
export const CALLS: Readonly<Record<string, Calls>> = {
  "GET /openapi.json": { valid: () => ({ method: "GET", path: "/openapi.json", headers: {} }) },
  "GET /api/v1/whoami": { valid: (world) => withKey(world, "GET", "/api/v1/whoami") },
  "GET /api/v1/whoami/access": {
    valid: (world) => withKey(world, "GET", "/api/v1/whoami/access?scope=memory:read"),
  },
  "POST /api/v1/memory/mcp": {
    valid: (world) => {
      const call = withKey(world, "POST", "/api/v1/memory/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" });
      return { ...call, headers: { ...call.headers, accept: "application/json, text/event-stream" } };
    },
  },
  ...memoryCalls(""),
  ...memoryCalls("/api/v1/memory"),
  ...managementCalls(),
  ...gatewayCalls(),
};

const SAVED = "remember this";

function memoryCalls(prefix: string): Record<string, Calls> {
  const atoms = `${prefix}/atoms`;
  const nowhere = "library=nowhere";
  const atom = async (world: World) => {
    const library = await libraryOf(world);
    const { url, key } = world;
    const saved = await fetch(`${url}/atoms`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ library, content: SAVED }),
    });
    const made: { id: string; revision: number } = JSON.parse(await saved.text());
    return made;
  };
  const patch = (world: World, id: string, revision: number) =>
    withKey(world, "PATCH", atoms, { id, revision, content: unique("content") });
  return {
    [`GET ${atoms}`]: {
      valid: (world) => withKey(world, "GET", `${atoms}?limit=5`),
      refused: { not_found: (world) => withKey(world, "GET", `${atoms}?${nowhere}`) },
    },
    [`GET ${atoms}/search`]: {
      valid: (world) => withKey(world, "GET", `${atoms}/search?q=remember`),
      refused: { not_found: (world) => withKey(world, "GET", `${atoms}/search?q=remember&${nowhere}`) },
    },
    [`GET ${atoms}/{id}`]: { valid: async (world) => withKey(world, "GET", `${atoms}/${(await atom(world)).id}`) },
    [`GET ${atoms}/{id}/revisions`]: {
      valid: async (world) => withKey(world, "GET", `${atoms}/${(await atom(world)).id}/revisions`),
    },
    [`GET ${atoms}/{id}/neighbours`]: {
      valid: async (world) => withKey(world, "GET", `${atoms}/${(await atom(world)).id}/neighbours`),
    },
    [`POST ${atoms}`]: {
      valid: async (world) => withKey(world, "POST", atoms, { library: await libraryOf(world), content: "this" }),
      refused: {
        not_found: (world) => withKey(world, "POST", atoms, { library: "nowhere", content: "this" }),
        conflict: async (world) => {
          await atom(world);
          const again = { library: await libraryOf(world), content: SAVED };
          return withKey(world, "POST", `${atoms}?duplicates=refuse`, again);
        },
      },
    },
    [`POST ${atoms}/batch`]: {
      valid: async (world) => {
        const batch = { library: await libraryOf(world), atoms: [{ content: "this" }, { content: "that" }] };
        return withKey(world, "POST", `${atoms}/batch?duplicates=report`, batch);
      },
      refused: {
        not_found: (world) =>
          withKey(world, "POST", `${atoms}/batch`, { library: "nowhere", atoms: [{ content: "x" }] }),
        conflict: async (world) => {
          await atom(world);
          const again = { library: await libraryOf(world), atoms: [{ content: SAVED }] };
          return withKey(world, "POST", `${atoms}/batch?duplicates=refuse`, again);
        },
      },
    },
    [`GET ${atoms}/export`]: {
      valid: async (world) => withKey(world, "GET", `${atoms}/export?library=${await libraryOf(world)}`),
      refused: { not_found: (world) => withKey(world, "GET", `${atoms}/export?${nowhere}`) },
    },
    [`POST ${atoms}/import`]: {
      valid: async (world) => {
        const lines = [{ content: "this", id: "a", links: [{ rel: "r", id: "a" }] }, { content: "that" }];
        return withKey(world, "POST", `${atoms}/import`, { library: await libraryOf(world), atoms: lines });
      },
      refused: {
        not_found: (world) =>
          withKey(world, "POST", `${atoms}/import`, { library: "nowhere", atoms: [{ content: "x" }] }),
      },
    },
    [`POST ${atoms}/extract`]: {
      valid: async (world) => withKey(world, "POST", `${atoms}/extract`, await conversation(world)),
      refused: {
        not_found: (world) => withKey(world, "POST", `${atoms}/extract`, { library: "nowhere", messages: SAID }),
        conflict: async (world) =>
          withKey(world, "POST", `${atoms}/extract`, { library: await libraryOf(world), messages: SAID }),
      },
    },
    [`GET ${atoms}/extract/{id}`]: {
      valid: async (world) => {
        const handed = await fetch(`${world.url}/atoms/extract`, {
          method: "POST",
          headers: { "x-api-key": world.key, "content-type": "application/json" },
          body: JSON.stringify(await conversation(world)),
        });
        const { id }: { id: string } = JSON.parse(await handed.text());
        return withKey(world, "GET", `${atoms}/extract/${id}`);
      },
    },
    [`PATCH ${atoms}`]: {
      valid: async (world) => {
        const { id, revision } = await atom(world);
        return patch(world, id, revision);
      },
      refused: {
        not_found: (world) => patch(world, "nothing", 1),
        conflict: async (world) => patch(world, (await atom(world)).id, 7),
      },
    },
    [`DELETE ${atoms}/{id}`]: {
      valid: async (world) => withKey(world, "DELETE", `${atoms}/${(await atom(world)).id}`),
    },
    [`POST ${atoms}/{id}/restore`]: {
      valid: async (world) => withKey(world, "POST", `${atoms}/${(await atom(world)).id}/restore`),
    },
  };
}

const SAID = [{ role: "user", content: SAVED }];

/** For a library of its own, which takes conversations. */
async function conversation(world: World): Promise<object> {
  const library = unique("library");
  await world.declareExtraction(library);
  return { library, messages: SAID };
}

const libraries = new WeakMap<World, string>();

/** A library of the team, as its keys name it. */
async function libraryOf(world: World): Promise<string> {
  const known = libraries.get(world);
  if (known !== undefined) return known;
  const name = unique("library");
  await world.declareLibrary(name);
  libraries.set(world, name);
  return name;
}
