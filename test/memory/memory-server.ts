import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { RoutePlugin } from "../../server/app.ts";
import { startHarness } from "../server/harness.ts";
import { openMemoryStore } from "./memory-store.ts";

/**
 * A server of these routes for the whole file or block, on a database with two teams and their libraries. Each test
 * begins without atoms.
 *
 * @returns what is open within tests alone
 */
export function memoryServer(...routes: readonly RoutePlugin[]) {
  let opened: Awaited<ReturnType<typeof open>> | undefined;
  beforeAll(async () => {
    opened = await open(routes);
  });
  afterAll(async () => {
    await opened?.server.close();
    await opened?.store.close();
  });
  beforeEach(async () => {
    if (opened !== undefined) await sql`delete from atoms`.execute(opened.store.db);
  });
  return () => {
    if (opened === undefined) throw new Error("the server is open within tests alone");
    return opened;
  };
}

async function open(routes: readonly RoutePlugin[]) {
  const store = await openMemoryStore();
  const server = await startHarness({ mounts: routes.map((each) => ({ at: "", routes: each })), store });
  /** Of team A, with every right; where it names no library it means the handbook. */
  const key = server.addKey({ teamDefaultLibraryId: "lib-handbook" });
  return {
    store,
    server,
    key,
    /** Calls a route that takes JSON and answers in it. */
    async call(method: string, path: string, body?: unknown, as = key) {
      const response = await fetch(server.url + path, {
        method,
        headers: {
          authorization: `Bearer ${as}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, json: JSON.parse(await response.text()) };
    },
  };
}
