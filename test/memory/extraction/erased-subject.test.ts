import { type KyselyPlugin, sql } from "kysely";
import { afterAll, beforeAll, expect, type TestContext, test } from "vitest";
import type { Reach } from "../../../domain/access/reach.ts";
import { claimExtraction, settleExtraction } from "../../../memory/store/extraction/extraction-leases.ts";
import { handOver } from "../../../memory/store/extraction/jobs.ts";
import { listAtoms } from "../../../memory/store/lists/atom-list.ts";
import { insertAtom } from "../../../memory/store/writes/atom-writes.ts";
import { beginSave, endSave } from "../../../memory/store/writes/repeatable-saves.ts";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { managementRoutes } from "../../../server/management/routes.ts";
import type { Store } from "../../../store/database/store.ts";
import { libraryDeletion } from "../../../store/libraries/deleted-libraries.ts";
import { findPart, openLibrary } from "../../../store/libraries/reachable-libraries.ts";
import { eraseSubject } from "../../../store/libraries/subjects.ts";
import { describeNightlyOnEachEngine, describeOnEitherEngine } from "../../env/database/engines.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { until } from "../../env/until.ts";
import { type Harness, startHarness } from "../../server/harness.ts";
import { run, unique } from "../../store/fixtures.ts";
import { PLAIN } from "../store/plain-atom.ts";
import { openExtractionServer, startExtractingLibrary } from "./extracting-library.ts";

const TOKEN = "kpt_the-token";
const DIGEST = "d".repeat(32);
const TEA = { content: "Drinks tea.", tags: [], importance: 3 };

type Servers = { readonly memory: Harness; readonly management: Harness };

/** The servers of all worlds on a store. */
function openServers(store: () => Store): () => Servers {
  let servers: Servers | undefined;
  beforeAll(async () => {
    const mounts = [{ at: "/api/v1", routes: managementRoutes }];
    const token = managementToken("bootstrap-token", TOKEN);
    servers = {
      memory: await openExtractionServer(store()),
      management: await startHarness({ store: store(), mounts, managementToken: token }),
    };
  });
  afterAll(async () => {
    await servers?.memory.close();
    await servers?.management.close();
  });
  return () => {
    if (servers === undefined) throw new Error("the servers are open within tests alone");
    return servers;
  };
}

/** A library that is handed conversations, what is done to a subject's memory in it, and what is left of that. */
async function startWorld(context: TestContext, store: Store, { memory, management }: Servers) {
  const library = await startExtractingLibrary(context, store, { workers: 0, beside: memory });
  await library.declare();
  const { libraryId, draft, home } = library;
  const reachOf = (subject: string): Reach => ({ ...library.reach, subject });
  const claim = () => claimExtraction(store, crypto.randomUUID());
  type ClaimedLease = NonNullable<Awaited<ReturnType<typeof claim>>>;

  return {
    reachOf,
    claim,
    hurry: library.hurry,
    partOf: (subject: string) => findPart(store.db, libraryId, subject),
    handOver: (by: Pick<Store, "db">, subject: string, tokens = 1) =>
      by.db.transaction().execute(async (tx) => {
        await quick(tx, store);
        const conversation = { libraryId, digest: DIGEST, passages: ["one", "two"], tokens };
        return handOver(tx, reachOf(subject), conversation);
      }),
    settle: (by: Store, lease: ClaimedLease) => {
      const statements = [TEA];
      return settleExtraction(
        by,
        lease,
        lease.isLast ? { kind: "done", statements, known: 0 } : { kind: "read", statements },
      );
    },
    /** As a save with an Idempotency-Key is made. */
    save: (by: Pick<Store, "db">, subject: string) =>
      by.db.transaction().execute(async (tx) => {
        await quick(tx, store);
        const into = (await openLibrary(tx, reachOf(subject), libraryId)) ?? "";
        const known = { caller: `key/of/${subject}`, key: DIGEST, request: DIGEST };
        const before = await beginSave(tx, known, into);
        if (before !== undefined) return before === "absent" ? undefined : { kind: "known" };
        const atom = await insertAtom(tx, reachOf(subject), { ...PLAIN, libraryId: into, at: Date.now() });
        await endSave(tx, known, { atomIds: [atom?.id ?? null], beside: {} });
        return atom && { kind: "saved" };
      }),
    /** As an admin of the team does. */
    async erase(subject: string): Promise<number> {
      const answer = await fetch(`${management.url}/api/v1/libraries/${libraryId}/erased-subjects`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify({ subject }),
      });
      await answer.body?.cancel();
      return answer.status;
    },
    eraseBy: (by: Store, subject: string) => {
      const erasure = { library: { ...draft.library, teamId: home.teamId }, subject, by: { actor: "a test" } };
      return run(by, (tx) => eraseSubject(tx, erasure));
    },
    async delete(): Promise<void> {
      const deletion = libraryDeletion(store);
      while (await deletion.next());
    },
    /** What a call for the subject finds, and what is kept under these parts of the library, found or not. */
    async left(subject: string, parts: readonly string[]) {
      const reach = { ...reachOf(subject), isOwnOnly: true };
      const { items } = await listAtoms(store.db, reach, { libraryId, after: null, limit: 9 });
      const { rows } = await sql<{ answers: number; rows: number }>`with parts as (
          select unnest(${[...parts]}::text[]) as id)
        select ((select count(*) from extraction_jobs where stored_in in (select id from parts))
          + (select count(*) from repeatable_saves where library_id in (select id from parts)))::integer as answers,
          ((select count(*) from atoms where library_id in (select id from parts))
          + (select count(*) from libraries where id in (select id from parts)))::integer as rows`.execute(store.db);
      return { found: items.length, ...rows[0] };
    },
  };
}

/** Of two that wait for each other, this one is given up, and not the erasure, which is repeated. */
async function quick(tx: Pick<Store, "db">["db"], { engine }: Store): Promise<void> {
  if (engine === "postgres") await sql`set local deadlock_timeout = '10ms'`.execute(tx);
}

/** All orders of these steps in which those of one list stay in their order. */
function orders<T>(one: readonly T[], other: readonly T[]): T[][] {
  const [first, ...rest] = one;
  const [second, ...more] = other;
  if (first === undefined || second === undefined) return [[...one, ...other]];
  return [
    ...orders(rest, other).map((order) => [first, ...order]),
    ...orders(one, more).map((order) => [second, ...order]),
  ];
}

describeNightlyOnEachEngine("A subject that is erased while a conversation of it is worked on", (store) => {
  const servers = openServers(store);
  const work = ["hand over", "claim", "settle", "claim", "settle"] as const;
  type Step = (typeof work)[number] | "erase" | "delete";

  test("b120: leaves nothing and does not come back, in each order of the steps", async (context) => {
    const world = await startWorld(context, store(), servers());
    // By day the deletion is next to the erasure, or last.
    const isOfDay = (order: readonly Step[]) =>
      order.at(-1) === "delete" || order.indexOf("delete") === order.indexOf("erase") + 1;
    for (const order of orders<Step>(work, ["erase", "delete"]).filter((each) => NIGHTLY || isOfDay(each))) {
      const subject = unique("ana");
      const isBefore = order.indexOf("erase") > 0;
      let erased: string | undefined;
      let lease: Awaited<ReturnType<typeof world.claim>>;
      const steps: Record<Step, () => Promise<unknown>> = {
        "hand over": () => world.handOver(store(), subject),
        async claim() {
          lease = await world.claim();
        },
        settle: async () => lease && world.settle(store(), lease),
        async erase() {
          erased = await world.partOf(subject);
          expect(await world.erase(subject)).toBe(200);
        },
        delete: world.delete,
      };
      for (const step of order) await steps[step]();
      await world.delete();
      const nothing = { found: 0, answers: 0, rows: 0 };
      // What was handed over behind the erasure is a new subject's.
      const left = await world.left(subject, erased === undefined ? [] : [erased]);
      expect({ order, ...left }).toEqual({ order, ...nothing, ...(!isBefore && { found: 1 }) });
      await world.erase(subject);
      await world.hurry();
    }
  });
});

/** Holds what goes through a database up behind its nth statement. */
function heldBehind({ db, ...store }: Store, nth: number) {
  let count = 0;
  const held = Promise.withResolvers<"held">();
  const go = Promise.withResolvers<void>();
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      count += 1;
      if (count === nth) {
        held.resolve("held");
        await go.promise;
      }
      return result;
    },
  };
  return { store: { ...store, db: db.withPlugin(plugin) }, held: held.promise, go: go.resolve };
}

describeOnEitherEngine("A subject that is erased at the same moment", (store) => {
  const servers = openServers(store);
  type World = Awaited<ReturnType<typeof startWorld>>;
  /** What is done for a subject, through a database; it is prepared before. */
  const CALLS: Readonly<Record<string, (world: World, subject: string) => Promise<(by: Store) => Promise<unknown>>>> = {
    "as a conversation of it is handed over": async (world, subject) => {
      await world.save(store(), subject);
      return (by) => world.handOver(by, subject);
    },
    "as its first conversation is handed over": async (world, subject) => (by) => world.handOver(by, subject),
    "as its conversation is claimed": async (world, subject) => {
      await world.handOver(store(), subject);
      return (by) => claimExtraction(by, crypto.randomUUID()).then(() => ({ kind: "claimed" }));
    },
    "as a model's answer is saved": async (world, subject) => {
      await world.handOver(store(), subject);
      const first = await world.claim();
      if (first !== undefined) await world.settle(store(), first);
      const last = await world.claim();
      if (last === undefined) throw new Error("there is no turn");
      return (by) => world.settle(by, last).then(() => ({ kind: "settled" }));
    },
    "as an atom is saved": async (world, subject) => {
      await world.handOver(store(), subject);
      return (by) => world.save(by, subject);
    },
  };

  /** Ends, or waits for a lock, which another transaction has. */
  async function endsOrWaits(task: Promise<unknown>): Promise<void> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    task.then(over, over);
    await until("it ends or waits", async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(store().db);
      return isOver || rows.length > 0;
    });
  }

  const HELD = Object.entries(CALLS).flatMap(([when, prepare]) =>
    (["call", "erasure"] as const).map((held) => ({ when, prepare, held })),
  );

  test.for(HELD)(
    "b120: $when, the $held held up behind each of its statements, leaves nothing that comes back",
    async ({ prepare, held: what }, context) => {
      const world = await startWorld(context, store(), servers());
      const isErasureHeld = what === "erasure";
      // By day behind every second one: of the calls and of the erasure beside them not the same.
      for (let nth = isErasureHeld && !NIGHTLY ? 2 : 1; ; nth += NIGHTLY ? 1 : 2) {
        const subject = unique("ana");
        const call = await prepare(world, subject);
        const erased = await world.partOf(subject);
        const { store: slow, held, go } = heldBehind(store(), nth);
        const first = isErasureHeld ? world.eraseBy(slow, subject) : call(slow);
        const isHeld = (await Promise.race([held, first])) === "held";
        const second = isErasureHeld ? call(store()) : world.erase(subject);
        await endsOrWaits(second);
        go();
        const [one, other] = await Promise.all([first, second]);
        const [erasure, result] = isErasureHeld ? [one, other] : [other, one];
        expect({ nth, erasure, result }).toMatchObject({
          ...{ nth, erasure: isErasureHeld ? expect.any(Boolean) : 200 },
          result: { kind: expect.any(String) },
        });
        if (erased !== undefined) {
          expect({ nth, ...(await world.left(subject, [erased])) }).toMatchObject({ nth, answers: 0 });
          await world.delete();
          expect({ nth, ...(await world.left(subject, [erased])) }).toMatchObject({ nth, rows: 0 });
        }
        await world.erase(subject);
        await world.hurry();
        if (!isHeld) return;
      }
    },
  );
});
