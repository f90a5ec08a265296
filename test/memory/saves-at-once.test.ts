import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { mcpRoutes } from "../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import type { Store } from "../../store/database/store.ts";
import { openEmbedded } from "../env/database/embedded-database.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { type Harness, startHarness } from "../server/harness.ts";
import { addTeamsWithLibraries } from "./libraries.ts";

const CLIENTS = NIGHTLY ? 50 : 16;
/** Less than the five seconds for which a call waits. */
const LONG_MS = 4_900;
const NOWHERE = "00000000-0000-7000-8000-000000000000";

let store: Store;
let server: Harness;
let key: string;
beforeAll(async () => {
  store = await openEmbedded();
  await addTeamsWithLibraries(store);
  server = await startHarness({ mounts: [memoryRoutes, mcpRoutes].map((routes) => ({ at: "", routes })), store });
  key = server.addKey({ teamDefaultLibraryId: "lib-handbook" });
  await server.whenStored();
});
afterAll(async () => {
  await server.close();
  await store.close();
});
beforeEach(async () => {
  await sql`delete from atoms`.execute(store.db);
});

const send = (path: string, body: unknown, signal?: AbortSignal) =>
  fetch(`${server.url}${path}`, {
    method: "POST",
    headers: {
      "x-api-key": key,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
const save = async (atom: object, signal?: AbortSignal) => (await send("/atoms", atom, signal)).status;
const saveByTool = async (atom: object) => {
  const params = { name: "memory_save_atom", arguments: atom };
  const text = await (await send("/api/v1/memory/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params })).text();
  return /\\?"note\\?":\\?"(Saved\.|Nothing was saved|[^"]*)/.exec(text)?.[1] ?? text;
};
const statement = (n: number) => `Statement ${n} says what nothing else does: ${"abcdefghij"[n % 10]?.repeat(20 + n)}.`;
const contents = async () =>
  (await sql<{ content: string }>`select content from atoms`.execute(store.db)).rows.map((row) => row.content).sort();

/** Takes the turn of the memory, from when it is answered, until `give` is called. Time stands still, but for `pass`. */
async function holdSlot(context: { onTestFinished(end: () => void): void }) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  context.onTestFinished(() => {
    release();
    vi.useRealTimers();
  });
  const call = { teamId: "another", signal: new AbortController().signal };
  // It goes on for longer than a call may, as a statement of the embedded database does, which cannot be ended.
  const held = store.memory
    .run(call, () => {
      take();
      return released;
    })
    .catch(() => {});
  await taken;
  return {
    /** Resolves when the server has so many calls. */
    async waiting(calls: number) {
      while (server.streams.size < calls) await new Promise(setImmediate);
      // Between a call and its turn there is nothing to wait for but this thread.
      for (let slot = 0; slot < 100; slot++) await new Promise(setImmediate);
    },
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    async give() {
      release();
      await held;
    },
  };
}

test("b87: many clients that save at once on the embedded default wait for each other, and each saves its atom once", async (context) => {
  const slot = await holdSlot(context);
  const saves = Array.from({ length: CLIENTS }, async (_, n) => {
    const atom = { content: statement(n) };
    return n % 2 === 0 ? await save(atom) : await saveByTool(atom);
  });
  await slot.waiting(CLIENTS);
  await slot.pass(LONG_MS);
  await slot.give();
  expect(await Promise.all(saves)).toEqual(Array.from(saves, (_, n) => (n % 2 === 0 ? 201 : "Saved.")));
  expect(await contents()).toEqual(Array.from(saves, (_, n) => statement(n)).sort());
});

test("b87: of clients that save at once, one that is refused, shown a duplicate or gone leaves the others' atoms", async (context) => {
  await save({ content: statement(0) });
  const slot = await holdSlot(context);
  const leave = new AbortController();
  const others = Array.from({ length: 10 }, (_, n) => save({ content: statement(n + 1) }));
  const linked = save({ content: "Linked.", links: [{ rel: "about", id: NOWHERE }] });
  const alike = saveByTool({ content: statement(0), tags: ["again"] });
  const gone = save({ content: "Gone." }, leave.signal).catch(() => "gone");
  const last = save({ content: statement(11) });
  await slot.waiting(14);
  leave.abort();
  expect(await gone).toBe("gone");
  await slot.pass(LONG_MS);
  await slot.give();
  expect(await Promise.all([...others, last])).toEqual(Array(11).fill(201));
  expect([await linked, await alike]).toEqual([400, "Nothing was saved"]);
  expect(await contents()).toEqual(Array.from({ length: 12 }, (_, n) => statement(n)).sort());
});

test("b87: what waits for longer than five seconds is refused, and nothing of it is saved", async (context) => {
  const slot = await holdSlot(context);
  const saves = Array.from({ length: 3 }, (_, n) => save({ content: statement(n) }));
  await slot.waiting(3);
  let isAnswered = false;
  const answers = Promise.all(saves).finally(() => {
    isAnswered = true;
  });
  while (!isAnswered) await slot.pass(5_000);
  expect(await answers).toEqual([503, 503, 503]);
  await slot.give();
  expect(await contents()).toEqual([]);
});
