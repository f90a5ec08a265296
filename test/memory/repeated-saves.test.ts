import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { type PluginTransformResultArgs, sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { UNSTORED_VERSION } from "../../domain/access/key-record.ts";
import { scopeSet } from "../../domain/access/scopes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { libraryDeletion } from "../../store/libraries/deleted-libraries.ts";
import { databaseUrl, describeNightlyOnEachEngine, describeOnPostgres } from "../env/database/engines.ts";
import { until } from "../env/until.ts";
import { type Harness, startHarness } from "../server/harness.ts";
import { unique } from "../store/fixtures.ts";
import { addLibrary, addTeamsWithLibraries } from "./libraries.ts";
import { losingAnswers } from "./lost-answers.ts";

const MOUNTS = ["", "/api/v1/memory"].map((at) => ({ at, routes: memoryRoutes }));
const FREEZE = "The deploy freeze ends on Monday.";
const DEFAULT = { teamDefaultLibraryId: "lib-handbook" };
const SAVES = [
  ["/atoms", { content: FREEZE, tags: ["deploy"] }],
  ["/atoms/batch", { atoms: [{ content: FREEZE }, { content: "Anna is on call in May." }] }],
  [
    "/atoms/import",
    {
      atoms: [
        { content: FREEZE, links: [{ rel: "r", id: "gone" }] },
        { content: "Over.", expiresAt: "2020-01-01T00:00:00Z" },
      ],
    },
  ],
] as const;

type SaveOptions = { readonly once?: string; readonly as: string; readonly at?: string };

async function post(path: string, body: unknown, { once, as, at = "" }: SaveOptions, server: Pick<Harness, "url">) {
  const response = await fetch(`${server.url}${at}${path}`, {
    method: "POST",
    headers: {
      "x-api-key": as,
      "content-type": "application/json",
      ...(once === undefined ? {} : { "idempotency-key": once }),
    },
    body: JSON.stringify(body),
  });
  const { status, headers } = response;
  return { status, replayed: headers.get("idempotency-replayed"), headers, json: JSON.parse(await response.text()) };
}

async function contentsOf({ db }: Store): Promise<string[]> {
  const { rows } = await sql<{ content: string }>`select content from atoms order by id`.execute(db);
  return rows.map(({ content }) => content);
}

describeNightlyOnEachEngine("a save that is repeated with its Idempotency-Key", (opened) => {
  let server: Harness;
  let key: string;
  let once: string;
  beforeAll(async () => {
    await addTeamsWithLibraries(opened());
    server = await startHarness({ mounts: MOUNTS, store: opened() });
    key = server.addKey(DEFAULT);
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    await sql`delete from atoms`.execute(opened().db);
    await sql`delete from repeatable_saves`.execute(opened().db);
    once = unique("once");
  });

  const save = (path: string, body: unknown, sent: Partial<SaveOptions> = {}) =>
    post(path, body, { once, as: key, ...sent }, server);
  const contents = () => contentsOf(opened());
  const saves = async () =>
    Number(
      (await sql<{ n: string }>`select count(*)::text as n from repeatable_saves`.execute(opened().db)).rows[0]?.n,
    );

  test.each(SAVES)("b119: POST %s is made once, and answered as the first time, by either path", async (path, body) => {
    const first = await save(path, body);
    expect([first.status, first.replayed]).toEqual([201, null]);
    const made = await contents();
    const again = await save(path, body, { at: "/api/v1/memory" });
    expect([again.status, again.replayed, again.json]).toEqual([200, "true", first.json]);
    expect(await contents()).toEqual(made);
    const other = await save(path, body, { once: unique("once") });
    expect([other.status, (await contents()).length]).toEqual([201, 2 * made.length]);
  });

  test("b119: without one, each request is made, as ever", async () => {
    for (const _ of [1, 2]) expect((await post("/atoms", { content: FREEZE }, { as: key }, server)).status).toBe(201);
    expect([await contents(), await saves()]).toEqual([[FREEZE, FREEZE], 0]);
  });

  test("b119: plain and quoted, and members in any order, are one request", async () => {
    const first = await save("/atoms", { content: FREEZE, source: "me", metadata: { a: 1, b: 2 } }, { once: "a-b" });
    const again = await save("/atoms", { metadata: { b: 2, a: 1 }, source: "me", content: FREEZE }, { once: '"a-b"' });
    expect([again.status, again.json]).toEqual([200, first.json]);
    const escaped = await save("/atoms", { content: "x" }, { once: '"a\\"b\\\\c d"' });
    expect([escaped.status, (await save("/atoms", { content: "x" }, { once: '"a\\"b\\\\c d"' })).status]).toEqual([
      201, 200,
    ]);
    expect((await save("/atoms", { content: "x" }, { once: 'a"b' })).status).toBe(201);
  });

  test.each([
    ["empty", [""]],
    ["too long", ["x".repeat(256)]],
    ["with a space", ["a b"]],
    ["not ASCII", ["cl\u00e9"]],
    ["open", ['"a']],
    ["an empty string", ['""']],
    ["too long a string", [`"${"x".repeat(256)}"`]],
    ["with a parameter", ['"a";b']],
    ["a list", ['"a", "b"']],
    ["with an unknown escape", ['"\\a"']],
    ["there twice", ["a", "a"]],
    ["there twice, as the halves of one string", ['"a', 'b"']],
  ])("b119: one that is %s is refused, and nothing is saved", async (_what, values) => {
    const body = JSON.stringify({ content: FREEZE });
    const lines = [
      ...[
        "POST /atoms HTTP/1.1",
        "Host: x",
        `X-API-Key: ${key}`,
        "Content-Type: application/json",
        "Connection: close",
      ],
      ...[`Content-Length: ${body.length}`, ...values.map((value) => `Idempotency-Key: ${value}`), "", body],
    ];
    const socket = connect(server.port, "127.0.0.1");
    socket.write(lines.join("\r\n"), "latin1");
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain("An Idempotency-Key is 1 to 255");
    expect(await contents()).toEqual([]);
  });

  test("b119: many at once, on two servers, are one save", async (context) => {
    const other = await anotherServer(context);
    const [path, body] = SAVES[1];
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => post(path, body, { once, as: key }, at % 2 === 0 ? server : other)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201]);
    expect(new Set(answers.map(({ json }) => JSON.stringify(json))).size).toBe(1);
    expect(await contents()).toHaveLength(2);
  });

  test("b119: what many at once are to refuse as a duplicate is saved by one, and answered to all", async (context) => {
    const other = await anotherServer(context);
    const ask = (at: Harness) => post("/atoms?duplicates=refuse", { content: FREEZE }, { once, as: key }, at);
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => ask(at % 2 === 0 ? server : other)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201]);
    expect(await contents()).toEqual([FREEZE]);
  });

  test("b119: callers do not meet: another key of the team, and one of another team, save their own", async () => {
    const second = server.addKey(DEFAULT);
    const foreign = server.addKey({ teamId: "team-b", namespace: "b", teamDefaultLibraryId: "lib-b-notes" });
    const first = await save("/atoms", { content: FREEZE });
    for (const as of [second, foreign]) {
      const made = await save("/atoms", { content: FREEZE }, { as });
      expect([made.status, made.json.id === first.json.id]).toEqual([201, false]);
      expect((await save("/atoms", { content: FREEZE }, { as })).json.id).toBe(made.json.id);
    }
  });

  test("b119: nor do two placeholders that are first in the list, one after the other", async () => {
    const placeholder = { keyId: "placeholder_1", version: UNSTORED_VERSION };
    const ours = server.addKey({ ...DEFAULT, ...placeholder });
    for (const each of [once, "second"]) await save("/atoms", { content: FREEZE }, { as: ours, once: each });
    expect((await save("/atoms", { content: FREEZE }, { as: ours })).status).toBe(200);
    const theirs = server.addKey({ ...placeholder, teamId: "team-b", teamDefaultLibraryId: "lib-b-notes" });
    expect((await save("/atoms", { content: FREEZE }, { as: theirs })).status).toBe(201);
    expect((await save("/atoms", { content: "Other." }, { as: theirs, once: "second" })).status).toBe(201);
  });

  test("b119: a rotation between two tries keeps it", async () => {
    const old = server.addKey(DEFAULT);
    const first = await save("/atoms", { content: FREEZE }, { as: old });
    server.changeKey(old, { versionState: "retired" });
    const renewed = server.addKey({ ...server.recordOf(old), version: 2, versionState: "active" });
    const again = await save("/atoms", { content: FREEZE }, { as: renewed });
    expect([again.status, again.json]).toEqual([200, first.json]);
  });

  test("b119: another request by the same key is refused with 422, and nothing is saved", async () => {
    const { id } = (await save("/atoms", { content: FREEZE })).json;
    const others: [string, unknown][] = [
      ["/atoms", { content: "Another." }],
      ["/atoms", { content: FREEZE, library: "diary" }],
      ["/atoms?duplicates=report", { content: FREEZE }],
      ["/atoms/batch", { atoms: [{ content: FREEZE }] }],
      ["/atoms/import", { atoms: [{ content: FREEZE }] }],
    ];
    for (const [path, body] of others) {
      expect(await save(path, body)).toMatchObject({
        status: 422,
        replayed: null,
        json: { code: "idempotency_mismatch", id },
      });
    }
    expect((await save("/atoms?duplicates=allow", { content: FREEZE })).status).toBe(200);
    expect(await contents()).toEqual([FREEZE]);
  });

  test("b119: of an atom that was deleted or corrected since, its id is answered, and nothing that was written later", async () => {
    const writer = server.addKey({ ...DEFAULT, scopes: scopeSet(["memory:write"]) });
    const atoms = [{ content: "one" }, { content: "two" }, { content: "three" }];
    const first = await save("/atoms/batch", { atoms }, { as: writer });
    const [one, two, three] = first.json.items;
    const change = (method: string, path: string, body?: object) =>
      fetch(server.url + path, {
        method,
        headers: { "x-api-key": key, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      });
    expect((await change("DELETE", `/atoms/${one.id}`)).status).toBe(204);
    expect((await change("PATCH", "/atoms", { id: two.id, revision: 1, content: "secret" })).status).toBe(200);
    const again = await save("/atoms/batch", { atoms }, { as: writer });
    expect([again.status, again.json]).toEqual([200, { items: [{ id: one.id }, { id: two.id }, three] }]);
    expect(await contents()).toHaveLength(2);
  });

  test("b119: what has expired since is answered by its id, and not refused for a time that is over", async () => {
    const expiresAt = new Date(server.clock.now() + 60_000).toISOString();
    const body = { content: FREEZE, expiresAt };
    const first = await save("/atoms", body);
    expect(first.status).toBe(201);
    await sql`update atoms set expires_at = now()`.execute(opened().db);
    server.clock.advance(120_000);
    const again = await save("/atoms", body);
    expect([again.status, again.json]).toEqual([200, { id: first.json.id }]);
  });

  test("b119: near-duplicates are reported, or refused, of the first time alone", async () => {
    const before = await save("/atoms", { content: FREEZE }, { once: unique("once") });
    const reported = await save("/atoms?duplicates=report", { content: FREEZE });
    expect(reported.json.nearDuplicates).toEqual([{ index: 0, id: before.json.id, similarity: 1 }]);
    expect((await save("/atoms?duplicates=report", { content: FREEZE })).json).toEqual(reported.json);
    const refuse = { once: unique("once") };
    const path = "/atoms/batch?duplicates=refuse";
    const body = { atoms: [{ content: "Anna is on call in May." }] };
    const saved = await save(path, body, refuse);
    const again = await save(path, body, refuse);
    expect([saved.status, again.status, again.json]).toEqual([201, 200, saved.json]);
  });

  test("b119: a refusal leaves no record: the same request is made as if it were the first", async () => {
    const late = unique("late");
    const refused: [string, unknown, number][] = [
      ["/atoms", { content: "" }, 400],
      ["/atoms", { content: "x", links: [{ rel: "r", id: "x" }] }, 400],
      ["/atoms", { content: "x", expiresAt: "2020-01-01T00:00:00Z" }, 400],
      ["/atoms", { content: "x", library: late }, 404],
      ["/atoms/batch", { atoms: [{ content: "x" }, { content: "y", links: [{ rel: "r", id: "x" }] }] }, 400],
      ["/atoms/import", { atoms: [{ content: "x" }], library: late }, 404],
    ];
    for (const [path, body, status] of refused) expect((await save(path, body)).status).toBe(status);
    expect([await contents(), await saves()]).toEqual([[], 0]);
    await addLibrary(opened(), { id: `lib-${late}`, team: "team-a", namespace: "a-dev", name: late });
    expect((await save("/atoms", { content: "x", library: late })).status).toBe(201);
    expect((await save("/atoms", { content: FREEZE }, { once: "another" })).status).toBe(201);
    const met = await save("/atoms?duplicates=refuse", { content: FREEZE }, { once: "met" });
    expect(met.status).toBe(409);
    await sql`delete from atoms`.execute(opened().db);
    expect((await save("/atoms?duplicates=refuse", { content: FREEZE }, { once: "met" })).status).toBe(201);
  });

  test("b119: a key that may not save any more is refused at a repetition as at any call", async () => {
    const fading = server.addKey(DEFAULT);
    const ask = () => save("/atoms", { content: FREEZE }, { as: fading });
    await ask();
    server.changeKey(fading, { scopes: scopeSet(["memory:read"]) });
    expect(await ask()).toMatchObject({ status: 403, replayed: null });
    server.changeKey(fading, { scopes: scopeSet(["memory:write"]), libraryIds: ["lib-diary"] });
    expect(await ask()).toMatchObject({ status: 400, replayed: null });
    server.changeKey(fading, { libraryIds: null });
    expect((await ask()).status).toBe(200);
    // Of what the index has not heard yet, the database knows.
    await server.whenStored();
    const { keyId } = server.recordOf(fading);
    await sql`update keys set state = 'revoked' where id = ${keyId}`.execute(opened().db);
    expect(await ask()).toMatchObject({ status: 401, replayed: null });
    expect(await contents()).toEqual([FREEZE]);
  });

  test("b119: a repetition is counted as a request as any is", async () => {
    const { length } = server.counted;
    for (const _ of [1, 2]) await save("/atoms", { content: FREEZE });
    expect(server.counted.slice(length)).toEqual(["atoms.create", "atoms.create"]);
    const limited = server.addKey({ ...DEFAULT, rateLimit: { requestsPerMinute: 1, burst: 1, scope: "Replica" } });
    const ask = () => save("/atoms", { content: FREEZE }, { as: limited });
    expect([(await ask()).status, (await ask()).status]).toEqual([201, 429]);
  });

  test("b119: after 24 hours it is another request", async () => {
    const first = await save("/atoms", { content: FREEZE });
    await sql`update repeatable_saves set made_at = made_at - interval '23 hours 59 minutes'`.execute(opened().db);
    expect((await save("/atoms", { content: FREEZE })).json).toEqual(first.json);
    await sql`update repeatable_saves set made_at = made_at - interval '2 minutes'`.execute(opened().db);
    const made = await save("/atoms", { content: "Another." });
    expect([made.status, await contents()]).toEqual([201, [FREEZE, "Another."]]);
    expect((await save("/atoms", { content: "Another." })).json).toEqual(made.json);
  });

  test("b119: a key that has too many records is refused more until the oldest is over, and none is lost for it", async (context) => {
    const first = await save("/atoms", { content: FREEZE });
    const record = server.recordOf(key);
    const { keyId } = record;
    const fill = (caller: string, rows: number) =>
      sql`insert into repeatable_saves (caller, key, request, library_id, made_at)
        select ${caller}, sha256(n::text::bytea), '', 'lib-handbook', clock_timestamp() - interval '23 hours'
        from generate_series(1, ${rows}::int) n`.execute(opened().db);
    await fill("key_of_another", 10_000);
    await fill(keyId, 9_998);
    // As another replica: this one has counted them, and need not again.
    const other = await startHarness({ mounts: MOUNTS, store: opened() });
    context.onTestFinished(() => other.close());
    other.addKey(record, key);
    const saveThere = (body: unknown, sent: Partial<SaveOptions>) =>
      post("/atoms", body, { once, as: key, ...sent }, other);
    const last = unique("once");
    expect((await saveThere({ content: "The last." }, { once: last })).status).toBe(201);
    const refused = await saveThere({ content: "One more." }, { once: unique("once") });
    expect(refused).toMatchObject({
      status: 429,
      json: {
        code: "rate_limited",
        detail:
          "This key has saved too often with an Idempotency-Key within 24 hours: nothing was saved. Try again later, save more at once, or save without one.",
      },
    });
    const wait = Number(refused.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(3_500);
    expect(wait).toBeLessThanOrEqual(3_600);
    expect((await save("/atoms", { content: FREEZE })).json).toEqual(first.json);
    expect((await save("/atoms", { content: "The last." }, { once: last })).status).toBe(200);
    expect((await post("/atoms", { content: "Without." }, { as: key }, server)).status).toBe(201);
    expect(await contents()).toEqual([FREEZE, "The last.", "Without."]);
  });

  test("b119: a repetition whose first try takes the last room meanwhile is no save too many", async (context) => {
    const store = opened();
    let meanwhile: Promise<unknown> | undefined;
    const memory: Store["memory"] = {
      run: (call, body) =>
        store.memory.run(call, (db, ...rest) => {
          const transformResult = async ({ result }: PluginTransformResultArgs) => {
            meanwhile ??= sql`update repeatable_saves set caller = ${keyId} where caller = 'unseen'`.execute(store.db);
            await meanwhile;
            return result;
          };
          return body(db.withPlugin({ transformQuery: ({ node }) => node, transformResult }), ...rest);
        }),
    };
    const late = await startHarness({ mounts: MOUNTS, store: { ...store, memory } });
    context.onTestFinished(() => late.close());
    const record = server.recordOf(key);
    const { keyId } = record;
    const first = await save("/atoms", { content: FREEZE });
    await sql`update repeatable_saves set caller = 'unseen'`.execute(store.db);
    await sql`insert into repeatable_saves (caller, key, request, library_id)
      select ${keyId}, sha256(n::text::bytea), '', 'lib-handbook' from generate_series(1, 9999) n`.execute(store.db);
    late.addKey(record, key);
    const again = await post("/atoms", { content: FREEZE }, { once, as: key }, late);
    expect([again.status, again.json]).toEqual([200, first.json]);
  });

  test("b119: with a library its records go", async () => {
    const name = unique("short");
    const id = `lib-${name}`;
    await addLibrary(opened(), { id, team: "team-a", namespace: "", name });
    const brief = server.addKey({ namespace: "" });
    const ask = () => save("/atoms", { content: FREEZE, library: name }, { as: brief });
    await ask();
    await sql`update libraries set state = 'deleted' where id = ${id}`.execute(opened().db);
    expect((await ask()).status).toBe(404);
    const deletion = libraryDeletion(opened(), { libraryId: id });
    while (await deletion.next());
    expect([await saves(), (await ask()).status]).toEqual([0, 404]);
  });

  test.each([
    ["all subjects", null],
    ["one subject", { mode: "Bound", subject: "ana" }],
  ] as const)(
    "b459: a save for %s is made in the library that has taken a deleted one's name, at once",
    async (_of, subject) => {
      const name = unique("notes");
      const declare = (id: string) => addLibrary(opened(), { id, team: "team-a", namespace: "", name });
      await declare(`lib-${name}`);
      const as = server.addKey({ namespace: "", subject });
      const ask = () => save("/atoms", { content: FREEZE, library: name }, { as });
      const { id: former } = (await ask()).json;
      await sql`update libraries set state = 'deleted', name = id where id = ${`lib-${name}`}`.execute(opened().db);
      await declare(`${name}-anew`);
      const made = await ask();
      expect([made.status, made.replayed, made.json.id === former]).toEqual([201, null, false]);
      expect(await ask()).toMatchObject({ status: 200, replayed: "true", json: made.json });
    },
  );

  test("b119: a save that may have been made says to repeat it by its key, and then is what was made", async (context) => {
    const losing = losingAnswers(opened());
    const late = await startHarness({ mounts: MOUNTS, store: losing.store });
    context.onTestFinished(() => late.close());
    const as = late.addKey(DEFAULT);
    const lost = await post("/atoms", { content: FREEZE }, { once, as }, late);
    expect([lost.status, lost.json.detail]).toEqual([503, expect.stringContaining("the same Idempotency-Key")]);
    const unsaid = await post("/atoms", { content: "Other." }, { as }, late);
    expect([unsaid.status, unsaid.json.detail]).toEqual([503, expect.not.stringContaining("Idempotency-Key")]);
    losing.arrive();
    expect((await post("/atoms", { content: FREEZE }, { once, as }, late)).status).toBe(200);
    expect(await contents()).toEqual([FREEZE, "Other."]);
  });

  /** Another replica: on PostgreSQL with connections of its own. */
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

describeOnPostgres("a save that is repeated while the first is under way", (opened) => {
  let server: Harness;
  beforeAll(async () => {
    await addTeamsWithLibraries(opened());
    server = await startHarness({ mounts: MOUNTS, store: opened() });
  });
  afterAll(() => server.close());

  const waiting = async () => {
    const { rows } = await sql`select from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock'`.execute(opened().db);
    return rows.length;
  };

  test("b119: waits for it, and is answered what it has made; or is made where that comes to nothing", async () => {
    const key = server.addKey(DEFAULT);
    for (const isTakenBack of [false, true]) {
      const once = unique("once");
      const content = unique("content");
      const ask = () => post("/atoms", { content, library: "diary" }, { once, as: key }, server);
      const both = await opened()
        .db.transaction()
        .execute(async (tx) => {
          await sql`lock table atoms in share mode`.execute(tx);
          const first = ask();
          await until("the first is under way", async () => (await waiting()) === 1);
          const second = ask();
          await until("the second waits", async () => (await waiting()) === 2);
          if (isTakenBack) {
            await sql`select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database()
            and wait_event_type = 'Lock' and query like '%insert into atoms%'`.execute(tx);
          }
          return Promise.resolve([first, second]);
        });
      const [first, second] = await Promise.all(both);
      expect([first?.status, second?.status]).toEqual(isTakenBack ? [503, 201] : [201, 200]);
      expect((await contentsOf(opened())).filter((each) => each === content)).toHaveLength(1);
    }
  });

  test("b119: is no duplicate of what the same request has saved meanwhile", async () => {
    const [first, second] = [server.addKey(DEFAULT), server.addKey(DEFAULT)];
    const ask = (as: string) =>
      post("/atoms?duplicates=refuse", { content: FREEZE }, { once: "meanwhile", as }, server);
    const made = await ask(first);
    await server.whenStored();
    const [late] = await opened()
      .db.transaction()
      .execute(async (tx) => {
        await sql`lock table atoms in access exclusive mode`.execute(tx);
        const asked = ask(second);
        await until("it looks for duplicates", async () => (await waiting()) === 1);
        // As if the first had been of the same key.
        await sql`insert into repeatable_saves select ${server.recordOf(second).keyId}, key, request, library_id,
          atom_ids, beside from repeatable_saves where caller = ${server.recordOf(first).keyId}`.execute(tx);
        return [asked];
      });
    const { status, replayed, json } = await (late ?? made);
    expect([status, replayed, json]).toEqual([200, "true", made.json]);
  });
});
