import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../../memory/rest/routes.ts";
import { MAX_SAVES } from "../../../memory/store/writes/repeatable-saves.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import { databaseUrl, describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { type Harness, startHarness } from "../../server/harness.ts";
import { addTeamsWithLibraries } from "../libraries.ts";
import { losingAnswers } from "../lost-answers.ts";

const MOUNTS = [memoryRoutes, mcpRoutes].map((routes) => ({ at: "", routes }));
const FREEZE = "The deploy freeze ends on Monday.";
const ANNA = "Anna is on call in May.";
const DEFAULT = { teamDefaultLibraryId: "lib-handbook" };
const ONE = { content: FREEZE, tags: ["deploy"], metadata: { ticket: "OPS-1", open: true } };

/** What is structured in an answer, as far as the tests look into it. */
type StructuredAnswer = {
  readonly note?: string;
  readonly atom?: { readonly id: string };
  readonly atoms?: readonly { readonly id: string }[];
  readonly nearDuplicates?: readonly { readonly index: number }[];
};

/** The official clients, by the server and the key that each is connected with. */
const clients = new Map<string, Promise<Client>>();
afterAll(async () => {
  for (const client of clients.values()) await (await client).close();
});

function clientOf(url: string, key: string): Promise<Client> {
  const by = `${url} ${key}`;
  const client = clients.get(by) ?? connect(url, key);
  clients.set(by, client);
  return client;
}

async function connect(url: string, key: string): Promise<Client> {
  const client = new Client({ name: "a-client", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/api/v1/memory/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${key}` } },
    }),
  );
  return client;
}

/** Calls a tool by the official client. */
async function call(name: string, args: Readonly<Record<string, unknown>>, key: string, { url }: Pick<Harness, "url">) {
  const client = await clientOf(url, key);
  const { isError = false, structuredContent = {}, content } = await client.callTool({ name, arguments: { ...args } });
  const [first] = content;
  return { isError, text: first?.type === "text" ? first.text : "", answer: structuredContent as StructuredAnswer };
}

describeNightlyOnEachEngine("a call of memory_save_atom that is repeated", (opened) => {
  let server: Harness;
  let key: string;
  beforeAll(async () => {
    await addTeamsWithLibraries(opened());
    server = await startHarness({ mounts: MOUNTS, store: opened() });
    key = server.addKey(DEFAULT);
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    await sql`delete from atoms`.execute(opened().db);
    await sql`delete from repeatable_saves`.execute(opened().db);
  });

  const save = async (args: Readonly<Record<string, unknown>>, as = key, at: Pick<Harness, "url"> = server) => {
    const { isError, text, answer } = await call("memory_save_atom", args, as, at);
    expect(isError, text).toBe(false);
    return answer;
  };

  test("of several is known again where one of them was there before, and says otherwise than the next", async () => {
    const [first, second] = [8001, 8002].map((port) => ({
      content: `A server of the cluster listens on port ${port}.`,
    }));
    const { atom } = await save(first ?? {});
    server.clock.advance(1_000);
    const made = await save({ atoms: [first, second], allowDuplicate: true });
    expect(made.atoms?.[0]?.id).toBe(atom?.id);
    for (let repetition = 0; repetition < 3; repetition++) {
      server.clock.advance(1_000);
      const again = await save({ atoms: [first, second], allowDuplicate: true });
      expect(again.atoms?.map(({ id }) => id)).toEqual(made.atoms?.map(({ id }) => id));
    }
  });
  const idOf = ({ atom, note }: StructuredAnswer) => atom?.id ?? expect.fail(`no atom: ${note}`);
  const idsOf = ({ atoms, note }: StructuredAnswer) => atoms?.map(({ id }) => id) ?? expect.fail(`no atoms: ${note}`);
  const atoms = async () =>
    (await sql<{ id: string; content: string }>`select id::text, content from atoms order by id`.execute(opened().db))
      .rows;
  const contents = async () => (await atoms()).map(({ content }) => content);

  test("is a statement of its own once another one has replaced what it said", async () => {
    const first = idOf(await save(port(8080)));
    const second = idOf(await save({ ...port(9090), links: [{ rel: "replaces", id: first }] }));
    const links = [{ rel: "replaces", id: second }];
    const again = await save(port(8080));
    expect([first, second]).not.toContain(idOf(again));
    expect(again).toMatchObject({ note: expect.stringMatching(/^Saved\. /), nearDuplicates: [{ index: 0 }] });
    expect(idOf(await save({ ...port(7070), links }))).not.toBe(second);
  });

  const port = (number: number) => ({ content: `The payments service listens on port ${number}.` });

  /** The same, a second later. */
  const saveLater = (...args: Parameters<typeof save>) => {
    server.clock.advance(1_000);
    return save(...args);
  };

  test("b119: is a statement of its own where almost the same was saved since, by whichever key and however often", async () => {
    const first = idOf(await saveLater(port(8080)));
    for (const number of [9090, 9091, 9092, 9093]) await saveLater(port(number));
    const again = await saveLater(port(8080));
    expect(again).toMatchObject({ note: expect.stringMatching(/^Saved\. /), nearDuplicates: [{}, {}, {}] });
    expect(idOf(again)).not.toBe(first);
    expect(idOf(await saveLater(port(8080)))).toBe(idOf(again));
    expect((await contents()).at(-1)).toBe(port(8080).content);
    const other = server.addKey(DEFAULT);
    expect((await saveLater(port(9093), other)).note).toMatch(/^Saved\. /);
    expect((await saveLater(port(9093), other)).note).toContain("nothing was written again");
    const several = await saveLater({ atoms: [port(8080), { content: ANNA }] });
    expect(several.note).toMatch(/^Saved 2 atoms/);
    expect((await saveLater({ atoms: [port(8080), { content: ANNA }] })).note).toContain("nothing was written again");
    expect(await atoms()).toHaveLength(9);
  });

  test("b119: of several that are near each other is answered by all of them", async () => {
    const args = { atoms: [port(8080), port(9090), port(7070)] };
    const first = await saveLater(args);
    for (const repeated of [args, { ...args, allowDuplicate: true }]) {
      expect(idsOf(await saveLater(repeated))).toEqual(idsOf(first));
    }
  });

  test("b119: of a state that was another one since is judged as any save is, and saved where that is allowed", async () => {
    const mode = (state: string) => ({
      content: `The checkout service runs on all hosts with its maintenance mode ${state}.`,
    });
    const first = idOf(await saveLater(mode("on")));
    const off = idOf(await saveLater({ ...mode("off"), allowDuplicate: true }));
    const refused = await saveLater(mode("on"));
    expect([refused.atom, refused.nearDuplicates]).toMatchObject([undefined, [{ atom: { id: off } }]]);
    const again = idOf(await saveLater({ ...mode("on"), allowDuplicate: true }));
    expect([first, off]).not.toContain(again);
    expect(idOf(await saveLater({ ...mode("on"), allowDuplicate: true }))).toBe(again);
    expect(idOf(await saveLater(mode("on")))).toBe(again);
  });

  test("b119: by a key that only writes tells nothing of what was saved since", async () => {
    const writer = server.addKey({ ...DEFAULT, scopes: scopeSet(["memory:write"]) });
    const first = idOf(await saveLater(port(8080), writer));
    await saveLater(port(9090));
    expect(idOf(await saveLater(port(8080), writer))).toBe(first);
  });

  test("over REST is no duplicate either where almost the same was saved since", async () => {
    const send = async (number: number) => {
      server.clock.advance(1_000);
      const headers = { "x-api-key": key, "content-type": "application/json" };
      const body = JSON.stringify(port(number));
      return (await fetch(`${server.url}/atoms?duplicates=refuse`, { method: "POST", headers, body })).status;
    };
    expect([await send(8080), await send(8080), await send(9090), await send(8080), await send(8080)]).toEqual([
      201, 409, 201, 201, 409,
    ]);
  });

  test.each([
    ["as it was", ONE],
    ["with allowDuplicate", { ...ONE, allowDuplicate: true }],
    ["with another budget", { ...ONE, maxTokens: 500 }],
    ["with its metadata in another order", { ...ONE, metadata: { open: true, ticket: "OPS-1" } }],
  ])("b119: %s is answered by the atom that is there, and saves nothing", async (_how, repeated) => {
    const first = await save(ONE);
    expect(first.note).toBe("Saved.");
    const again = await save(repeated);
    expect(again).toEqual({ ...first, note: expect.stringContaining("nothing was written again") });
    expect(await contents()).toEqual([FREEZE]);
  });

  test("b119: with allowDuplicate each time is one atom, beside what another key has saved", async () => {
    const other = server.addKey(DEFAULT);
    await save(ONE, other);
    const refused = await save(ONE);
    expect([refused.atom, refused.nearDuplicates]).toMatchObject([undefined, [{ index: 0 }]]);
    const first = await save({ ...ONE, allowDuplicate: true });
    expect(idOf(await save({ ...ONE, allowDuplicate: true }))).toBe(idOf(first));
    expect(idOf(await save(ONE))).toBe(idOf(first));
    expect(await contents()).toEqual([FREEZE, FREEZE]);
  });

  test("b119: a key that only writes is answered by its own atom, and learns of no other", async () => {
    await save(ONE);
    const writer = server.addKey({ ...DEFAULT, scopes: scopeSet(["memory:write"]) });
    const first = await save(ONE, writer);
    expect(first.note).toBe("Saved.");
    expect(idOf(await save(ONE, writer))).toBe(idOf(first));
    expect(await contents()).toEqual([FREEZE, FREEZE]);
  });

  test("b119: of several atoms those that are there are answered, the others saved, and all of them in order", async () => {
    const some = await save({ atoms: [{ content: "one" }, { content: "two" }] });
    const [one, two] = idsOf(some);
    const all = { atoms: [{ content: "two" }, { content: "three" }, { content: "one" }] };
    const mixed = await save(all);
    expect(idsOf(mixed)).toEqual([two, expect.anything(), one]);
    expect(mixed.note).toContain("Saved 1 of 3 atoms");
    const again = await save(all);
    expect(idsOf(again)).toEqual(idsOf(mixed));
    expect(again.note).toContain("nothing was written again");
    expect(idOf(await save({ content: "three" }))).toBe(idsOf(mixed)[1]);
    expect(await contents()).toEqual(["one", "two", "three"]);
  });

  test("b119: one statement twice among several is one atom", async () => {
    const twice = { atoms: [ONE, { content: ANNA }, ONE], allowDuplicate: true };
    const ids = idsOf(await save(twice));
    expect([ids[0], new Set(ids).size]).toEqual([ids[2], 2]);
    expect(idsOf(await save(twice))).toEqual(ids);
    expect(await contents()).toEqual([FREEZE, ANNA]);
  });

  test("b119: with another near-duplicate among them saves nothing", async () => {
    await save({ content: ANNA }, server.addKey(DEFAULT));
    await save(ONE);
    const { nearDuplicates } = await save({ atoms: [{ content: "new" }, ONE, { content: ANNA }] });
    expect(nearDuplicates).toMatchObject([{ index: 2 }]);
    expect(await contents()).toEqual([ANNA, FREEZE]);
  });

  test.each([
    ["other tags", { tags: ["other"] }],
    ["another source", { source: "a runbook" }],
    ["other case", { content: FREEZE.toUpperCase() }],
    ["an expiry", { expiresAt: "2099-01-01T00:00:00Z" }],
  ])("b119: with %s is another one, and is shown the atom that says almost the same", async (_what, changed) => {
    await save(ONE);
    const other = { ...ONE, ...changed };
    expect((await save(other)).nearDuplicates).toHaveLength(1);
    expect((await save({ ...other, allowDuplicate: true })).note).toBe("Saved.");
    expect(await contents()).toHaveLength(2);
  });

  test("b119: in another library is another one", async () => {
    const first = await save(ONE);
    expect(idOf(await save({ ...ONE, library: "diary" }))).not.toBe(idOf(first));
    expect(await contents()).toHaveLength(2);
  });

  test("b119: after its atom was forgotten saves it anew, and is then answered by that", async () => {
    const first = await save(ONE);
    await call("memory_forget_atom", { id: idOf(first) }, key, server);
    const second = await save(ONE);
    expect([second.note, idOf(second) === idOf(first)]).toEqual(["Saved.", false]);
    expect(idOf(await save(ONE))).toBe(idOf(second));
    expect(await contents()).toEqual([FREEZE]);
  });

  test("b119: after its atom was corrected is judged as any save is", async () => {
    const id = idOf(await save(ONE));
    await call("memory_correct_atom", { id, content: `${FREEZE} Or later.` }, key, server);
    expect((await save(ONE)).nearDuplicates).toHaveLength(1);
    await call("memory_correct_atom", { id, content: ANNA }, key, server);
    const second = await save(ONE);
    expect(second.note).toBe("Saved.");
    expect(idOf(await save(ONE))).toBe(idOf(second));
    expect(await contents()).toEqual([ANNA, FREEZE]);
  });

  test("b119: after 24 hours is judged as any save is", async () => {
    await save(ONE);
    await sql`update repeatable_saves set made_at = made_at - interval '25 hours'`.execute(opened().db);
    expect((await save(ONE)).nearDuplicates).toHaveLength(1);
    const second = await save({ ...ONE, allowDuplicate: true });
    expect(second.note).toBe("Saved.");
    expect(idOf(await save(ONE))).toBe(idOf(second));
  });

  test("b119: many at once, on two servers, are one save", async (context) => {
    const other = await anotherServer(context);
    const calls = Array.from({ length: 12 }, (_, at) =>
      save(at % 3 === 0 ? { ...ONE, allowDuplicate: true } : ONE, key, at % 2 === 0 ? server : other),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter(({ note }) => note === "Saved.")).toHaveLength(1);
    expect(new Set(answers.map(idOf)).size).toBe(1);
    expect(await contents()).toEqual([FREEZE]);
  });

  /** As {@link save}; a call that the database was too slow for is repeated, as its answer says. */
  const saveInTime = async (
    args: Readonly<Record<string, unknown>>,
    at: Pick<Harness, "url">,
  ): Promise<StructuredAnswer> => {
    const { isError, text, answer } = await call("memory_save_atom", args, key, at);
    if (!isError) return answer;
    expect(text).toContain("The database took too long");
    expect(text).toContain("repeat the same call");
    return saveInTime(args, at);
  };

  test("b119: many at once with the same atoms in other orders all end, and save each once", async (context) => {
    const other = await anotherServer(context);
    const statements = Array.from({ length: 10 }, (_, n) => ({ content: `${FREEZE} ${n}` }));
    const calls = Array.from({ length: 8 }, (_, at) => {
      const shifted = [...statements.slice(at), ...statements.slice(0, at)];
      return saveInTime({ atoms: shifted, allowDuplicate: true }, at % 2 === 0 ? server : other);
    });
    const answers = await Promise.all(calls);
    expect(new Set(answers.flatMap(idsOf)).size).toBe(10);
    expect(await contents()).toHaveLength(10);
  });

  test("b119: a refusal leaves nothing by which it is known: the same call is made as if it were the first", async () => {
    const linked = { ...ONE, links: [{ rel: "about", id: "00000000-0000-7000-8000-000000000000" }] };
    const many = { atoms: [{ content: ANNA }, linked] };
    for (const args of [many, linked]) {
      expect(await call("memory_save_atom", args, key, server)).toMatchObject({ isError: true });
    }
    expect(await contents()).toEqual([]);
    expect((await save({ atoms: [{ content: ANNA }, ONE] })).note).toContain("Saved 2 atoms");
  });

  test("b119: an answer that was lost says that the same call may be repeated", async (context) => {
    const losing = losingAnswers(opened());
    const late = await startHarness({ mounts: MOUNTS, store: losing.store });
    context.onTestFinished(() => late.close());
    const as = late.addKey(DEFAULT);
    const lost = await call("memory_save_atom", ONE, as, late);
    expect(lost).toMatchObject({ isError: true, text: expect.stringContaining("repeat the same call") });
    losing.arrive();
    const [there] = await atoms();
    expect(idOf(await save(ONE, as, late))).toBe(there?.id);
    expect(await contents()).toEqual([FREEZE]);
  });

  test("b119: beyond what is kept of one key is saved all the same, and takes no room of its Idempotency-Keys", async (context) => {
    const { keyId } = server.recordOf(key);
    await save(ONE);
    await sql`insert into repeatable_saves (caller, key, request, library_id)
      select caller, int4send(n), '', library_id from repeatable_saves, generate_series(2, ${MAX_SAVES}::integer) n
      where caller like ${`${keyId}/%`}`.execute(opened().db);
    // This one has counted them, and need not again.
    const other = await anotherServer(context);
    for (const _ of ["first", "second"]) {
      expect((await save({ content: ANNA, allowDuplicate: true }, key, other)).note).toBe("Saved.");
    }
    expect((await save(ONE, key, other)).note).toContain("nothing was written again");
    expect(await contents()).toEqual([FREEZE, ANNA, ANNA]);
    const response = await fetch(`${other.url}/atoms`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json", "idempotency-key": "once" },
      body: JSON.stringify({ content: "By its header." }),
    });
    expect(response.status).toBe(201);
  });

  async function anotherServer(context: { onTestFinished(end: () => Promise<void>): void }): Promise<Harness> {
    const own =
      opened().engine === "postgres" ? await openPostgres(String(await databaseUrl(opened())), {}) : undefined;
    const other = await startHarness({ mounts: MOUNTS, store: own ?? opened() });
    other.addKey(server.recordOf(key), key);
    context.onTestFinished(async () => {
      await other.close();
      await own?.close();
    });
    return other;
  }
});
