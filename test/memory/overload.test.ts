import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scopeSet } from "../../domain/access/scopes.ts";
import { mcpRoutes } from "../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import type { Db } from "../../store/database/change.ts";
import { MemoryTimeoutError } from "../../store/database/errors.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { databaseUrl, describeOnPostgres } from "../env/database/engines.ts";
import { startTcpProxy } from "../env/tcp-proxy.ts";
import { until } from "../env/until.ts";
import { type Harness, startHarness } from "../server/harness.ts";
import { addTeamsWithLibraries } from "./libraries.ts";

/** Calls of one team that do not end by themselves: corrections of an atom that another transaction holds. */
describeOnPostgres("The memory service, with a team that asks for too much", (store) => {
  let own: Store;
  let server: Harness;
  let greedy: string;
  let other: string;
  let atom: string;
  beforeAll(async () => {
    await addTeamsWithLibraries(store());
    own = await openPostgres((await databaseUrl(store())).href, { memoryRunMs: 1_000 });
    server = await startHarness({
      mounts: [memoryRoutes, mcpRoutes].map((routes) => ({ at: "", routes })),
      store: own,
    });
    greedy = server.addKey({ teamDefaultLibraryId: "lib-handbook" });
    other = server.addKey({ teamId: "team-b", namespace: "b", teamDefaultLibraryId: "lib-b-notes" });
    // On a busy machine the first call may take longer than any may.
    atom = await until("an atom is saved", async () => {
      const saved = await fetch(`${server.url}/atoms`, { method: "POST", ...asking(greedy, { content: "Held." }) });
      return saved.status === 201 && JSON.parse(await saved.text()).id;
    });
  });
  afterAll(async () => {
    await server.close();
    await own.close();
  });

  const asking = (key: string, body?: object): { headers: Record<string, string>; body?: string } => ({
    headers: { "x-api-key": key, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const correct = (signal?: AbortSignal) =>
    fetch(`${server.url}/atoms`, {
      method: "PATCH",
      ...asking(greedy, { id: atom, revision: 1, content: "Corrected." }),
      ...(signal && { signal }),
    });
  /** Statements of the service that wait for the atom. */
  const stuck = async (): Promise<number> => {
    const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity where datname = current_database()
      and state = 'active' and wait_event_type = 'Lock'`.execute(store().db);
    return rows.length;
  };
  /** Holds the atom while the body runs. */
  const holdingAtom = (body: () => Promise<void>) =>
    store()
      .db.transaction()
      .execute(async (tx) => {
        await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
        await sql`select 1 from atoms where id = ${atom} for update`.execute(tx);
        await body();
      });

  // The first: no other team has asked yet, beside which long calls have fewer places.
  test("b81: a call of the memory that waits for its turn is decided again as it comes", async () => {
    const params = { name: "memory_search", arguments: { query: "held" } };
    const narrowed = Array.from({ length: 2 }, () => server.addKey({ teamDefaultLibraryId: "lib-handbook" }));
    const [reader = "", tool = ""] = narrowed;
    await holdingAtom(async () => {
      const leave = new AbortController();
      const calls = Array.from({ length: 4 }, () => correct(leave.signal).catch(() => undefined));
      await until("all of the team's share is taken", async () => (await stuck()) === 4);
      const list = fetch(`${server.url}/atoms`, asking(reader));
      const call = asking(tool, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
      const accept = "application/json, text/event-stream";
      const url = `${server.url}/api/v1/memory/mcp`;
      const search = fetch(url, { method: "POST", ...call, headers: { ...call.headers, accept } });
      await until("both wait", () => server.streams.size === 6);
      for (const key of narrowed) server.changeKey(key, { scopes: scopeSet(["memory:write"]) });
      leave.abort();
      await Promise.all(calls);
      expect((await list).status).toBe(403);
      expect((await search).status).toBe(403);
    });
  });

  test("b86: thirty calls of one team leave the others their connections, and what runs ends when the callers leave", async () => {
    await holdingAtom(async () => {
      const leave = new AbortController();
      const calls = Array.from({ length: 30 }, () => correct(leave.signal).catch(() => undefined));
      await until("some of them run", stuck);
      const list = await fetch(`${server.url}/atoms`, asking(other));
      expect(list.status).toBe(200);
      expect(await stuck()).toBeGreaterThan(0);
      expect(await stuck()).toBeLessThanOrEqual(4);
      leave.abort();
      await Promise.all(calls);
      await until("nothing of them is left", async () => (await stuck()) === 0);
    });
    expect(server.lines.join("")).not.toContain("a request failed");
  });

  test("b86: a tool that takes too long is ended, says so to the model, and leaves the others their turns", async () => {
    const params = { name: "memory_correct_atom", arguments: { id: atom, content: "Corrected." } };
    const callTool = () => {
      const call = asking(greedy, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
      const accept = "application/json, text/event-stream";
      return fetch(`${server.url}/api/v1/memory/mcp`, {
        method: "POST",
        ...call,
        headers: { ...call.headers, accept },
      });
    };
    await holdingAtom(async () => {
      const calls = Promise.all(Array.from({ length: 6 }, async () => (await callTool()).text()));
      await until("some of them run", stuck);
      expect((await fetch(`${server.url}/atoms`, asking(other))).status).toBe(200);
      for (const text of await calls) {
        expect(text).toContain('"isError":true');
        expect(text).toMatch(/took too long|more to do than it can/);
      }
    });
    expect(server.lines.join("")).not.toContain("a memory tool failed");
  });

  test("b86: what a team asks for beyond its share is refused at once, and what takes too long is ended with 503", async () => {
    await holdingAtom(async () => {
      const answers = await Promise.all(Array.from({ length: 150 }, () => correct()));
      for (const { headers } of answers) expect(headers.get("retry-after")).toBe("1");
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429, 503]));
      await until("the database has ended them", async () => (await stuck()) === 0);
    });
  });
});

describeOnPostgres("The memory's connections", (store) => {
  const call = (teamId: string) => ({ teamId, signal: new AbortController().signal });
  const ask = (db: Db) => sql<{ one: number }>`select 1 as one`.execute(db);

  test("b86: a statement that is slow and a connection that is dead end alike, and others take their place", async () => {
    const url = await databaseUrl(store());
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    const own = await openPostgres(Object.assign(new URL(url), { port: String(proxy.port) }).href);
    try {
      const slow = own.memory.run(call("a"), (db) => sql`select pg_sleep(60)`.execute(db));
      await expect(slow).rejects.toThrow(MemoryTimeoutError);
      await own.memory.run(call("a"), ask);
      proxy.freeze();
      await expect(own.memory.run(call("a"), ask)).rejects.toThrow(MemoryTimeoutError);
      proxy.thaw();
      const { rows } = await until("a new connection answers", () => own.memory.run(call("a"), ask));
      expect(rows).toEqual([{ one: 1 }]);
    } finally {
      await own.close();
      await proxy.close();
    }
  });
});
