/**
 * Random calls of three teams with one credential, by two servers, against a model of which team owns what. fast-check
 * chooses them; `KEYPLANE_SEED` chooses others, and `KEYPLANE_MINUTES` says for how long.
 */
import { randomBytes } from "node:crypto";
import { boolean, array as listOf, nat, record, sample } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  GATEWAY_OPERATIONS,
  SERVED_OPERATIONS,
  type ServedOperation,
} from "../../../../domain/access/gateway-operations.ts";
import type { Dialect, OperationKind } from "../../../../domain/access/key-record.ts";
import { ObjectOwners } from "../../../../server/ownership/object-owners.ts";
import { parseKeyring } from "../../../../store/encryption/keyring.ts";
import {
  chargeOnce,
  endKeptObject,
  findCharged,
  findOwnedOrigins,
  recordOwners,
} from "../../../../store/gateways/kept-objects.ts";
import { describeOnEitherEngine } from "../../../env/database/engines.ts";
import { examples, NIGHTLY } from "../../../env/nightly.ts";
import type { Harness } from "../../harness.ts";
import { allDialects, routeOf, startGateway, upstreamOf } from "../gateway.ts";
import { startAllKindsUpstream } from "./all-kinds-upstream.ts";
import { Choice, Lacking, MODELS, type Move, type Request, requestOf } from "./choice.ts";
import { expectationOf, stateOf } from "./expectation.ts";
import { KeptWorld, type Named, type Thing } from "./kept-world.ts";
import { DRAWN_MOVES, MOVES, makerOf } from "./moves.ts";
import { FAULTS, type Fault, TEAM_HEADER } from "./upstream-call.ts";

const MINUTES = Number(process.env.KEYPLANE_MINUTES ?? (NIGHTLY ? 20 : 0));
const SEED = Number(process.env.KEYPLANE_SEED ?? (MINUTES > 0 ? Date.now() % 2 ** 31 : 1));
const TEAMS = ["alpha", "beta", "gamma"] as const;
const SERVED: readonly OperationKind[] = [
  ...(["generate", "embed", "responses", "files", "batches", "vectorStores", "images", "audio"] as const),
];
/** Numbers of the upstreams that a gateway leads to. */
const PLACES = { plain: [0], versioned: [0], second: [1], routed: [0, 1] } as const;
const GATEWAYS = ["plain", "versioned", "second", "routed"] as const;

/** Returns what a message says of an object that a call names. */
const described = ({ thing, kinds }: Named): string =>
  `${thing?.team} ${thing?.dialect} ${thing?.kind} ${thing?.id}${thing?.isGone ? ", gone" : ""}, as ${kinds}`;

/** True for an object that an answer may not show before it is recorded whose it is. */
const needsOwner = (thing: Thing, named: readonly Named[]): boolean =>
  !thing.isGone && thing.kind !== "item" && !named.some((each) => each.thing === thing);

const step = record({
  ...{ team: nat(2), key: nat(1), gateway: nat(3), replica: nat(1), move: nat(DRAWN_MOVES.length - 1) },
  ...{ numbers: listOf(nat(9_999), { minLength: 30, maxLength: 30 }), fault: nat(59), isBeside: boolean() },
});
const steps = listOf(step, { minLength: 200, maxLength: 200 });
type Step = typeof step extends { generate: (...args: never) => { value: infer S } } ? S : never;

describeOnEitherEngine("What upstreams keep for several teams", (store) => {
  const world = new KeptWorld();
  const faults = new Map<string, { readonly fault: Fault; skip: number }>();
  const database = { isAway: false };
  /** True while the first upstream answers no call for a response: the second one has to. */
  let isDown = false;
  const counts = { calls: 0, refused: 0, refusedLines: 0, reached: 0, listed: 0, batches: 0, atSecond: 0 };
  let upstreams: Awaited<ReturnType<typeof startAllKindsUpstream>>[];
  let replicas: Harness[];
  const keys: string[][] = [];

  const onFault = (place: number) => (team: string, operation: ServedOperation) => {
    if (isDown && place === 0 && operation === "gateway.responses") return "refused";
    const next = faults.get(team);
    if (next === undefined || next.skip-- > 0) return undefined;
    faults.delete(team);
    if (next.fault === "unrecorded") database.isAway = true;
    return next.fault;
  };
  function ownersOfReplica(): ObjectOwners {
    const { db } = store();
    const here = <T>(ask: () => Promise<T>): Promise<T> =>
      database.isAway ? Promise.reject(new Error("the database is away")) : ask();
    return new ObjectOwners({
      record: (made) => here(() => recordOwners(db, made)),
      find: (questions) => here(() => findOwnedOrigins(db, questions)),
      end: (teamId, object) => here(() => endKeptObject(db, teamId, object)),
      charge: (objects) => here(() => chargeOnce(db, objects)),
      findCharged: (questions) => here(() => findCharged(db, questions)),
      monotonic: () => performance.now(),
    });
  }

  beforeAll(async () => {
    upstreams = [await startAllKindsUpstream(world, 0, onFault(0)), await startAllKindsUpstream(world, 1, onFault(1))];
    const [url = "", other = ""] = upstreams.map((upstream) => upstream.url);
    const keyring = parseKeyring(randomBytes(32).toString("base64"));
    replicas = [];
    for (let at = 0; at < 2; at++) replicas.push(await startGateway({ owners: ownersOfReplica(), keyring }));
    const second = (dialect: Dialect) => ({ ...upstreamOf(other, dialect), name: `${dialect}-two` });
    const dialects = Object.keys(MODELS) as Dialect[];
    for (const teamId of TEAMS) {
      const made = [0, 1].map(() => replicas[0]?.addKey({ teamId }) ?? "");
      keys.push(made);
      for (const key of made) replicas[1]?.addKey({ teamId }, key);
      for (const replica of replicas) {
        const fields = { teamId, operations: SERVED };
        replica.addGateway({ ...fields, ...allDialects(url), publicId: `${teamId}-plain` });
        const versioned = [
          upstreamOf(`${url}/v1`),
          upstreamOf(`${url}/v1beta`, "gemini"),
          upstreamOf(`${url}/v1`, "anthropic"),
        ];
        replica.addGateway({ ...fields, ...allDialects(other), publicId: `${teamId}-second` });
        replica.addGateway({ ...fields, upstreams: versioned, publicId: `${teamId}-versioned` });
        replica.addGateway({
          ...{ ...fields, publicId: `${teamId}-routed` },
          upstreams: [...allDialects(url).upstreams, ...dialects.map(second)],
          routes: dialects.map((dialect) =>
            routeOf(MODELS[dialect], {
              ...{ upstream: dialect, upstreamModel: MODELS[dialect], weight: 1 },
              fallbacks: [{ upstream: `${dialect}-two`, upstreamModel: MODELS[dialect], weight: 1 }],
            }),
          ),
        });
      }
    }
  });
  afterAll(async () => {
    for (const replica of replicas) await replica.close();
    for (const upstream of upstreams) await upstream.close();
  });

  /** Chooses the call of a step, or one that makes what the team lacks for it. */
  function chosen({
    move: at,
    numbers,
    team,
    gateway,
  }: Step): { move: Move; choice: Choice; request: Request } | undefined {
    let move = DRAWN_MOVES[at];
    for (let tries = 0; move !== undefined && tries < 5; tries++) {
      // In the end what lacks nothing: by no numbers a call names next to nothing.
      const drawn = tries === 0 ? numbers : tries === 1 ? numbers.toReversed() : [];
      const places = PLACES[GATEWAYS[gateway] ?? "plain"];
      const choice = new Choice(world, TEAMS[team] ?? "", places, move.dialect, drawn);
      try {
        return { move, choice, request: requestOf(move, choice) };
      } catch (error) {
        if (!(error instanceof Lacking)) throw error;
        move = makerOf(move.dialect, error.kind);
      }
    }
    return undefined;
  }

  async function send({ team, key, gateway, replica }: Step, { method, path, headers, body }: Request) {
    const teamId = TEAMS[team] ?? "";
    const answer = await fetch(`${replicas[replica]?.url}/g/${teamId}-${GATEWAYS[gateway]}/${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${keys[team]?.[key]}`, [TEAM_HEADER]: teamId },
      ...(body !== undefined && { body }),
    });
    const head = JSON.stringify([...answer.headers]);
    // An answer that breaks off has shown what came before.
    let text = "";
    try {
      for await (const piece of answer.body ?? []) text += Buffer.from(piece).toString("latin1");
    } catch {}
    return { status: answer.status, isOurs: answer.headers.get("x-keyplane-error-source") === "keyplane", head, text };
  }

  /** Finds the objects that an answer names, but for those that the team has written into the file that it reads. */
  function shownIn(team: string, { operation }: Move, { head, text }: { head: string; text: string }): Thing[] {
    const isContent = operation === "gateway.get_file_content" || operation === "gateway.download_gemini_file";
    return world.namedIn(`${head} ${text}`).filter(({ id }) => !isContent || !world.written.has(`${team} ${id}`));
  }

  /** Notes what an answer shows, and finds what of it is another team's. */
  function foreignIn(team: string, move: Move, { head, text }: { head: string; text: string }): string[] {
    const foreign = (`${head} ${text}`.match(/mark-[a-z]+-\d+/g) ?? []).filter(
      (mark) => !mark.startsWith(`mark-${team}-`),
    );
    for (const thing of shownIn(team, move, { head, text })) {
      if (thing.team === team) thing.isShown = true;
      else foreign.push(thing.id);
    }
    return foreign;
  }

  /** Has the next answer of an upstream to a team have a fault; nothing else may need the database while it is away. */
  function drawFault({ fault: drawn, key }: Step, team: string, isAlone: boolean): Fault | undefined {
    const fault = FAULTS[drawn] ?? (drawn < 12 ? "refused" : undefined);
    if (fault === undefined || (fault === "unrecorded" && !isAlone)) return undefined;
    faults.set(team, { fault, skip: key });
    return fault;
  }

  /** Makes a call, and checks what it may show and reach. */
  async function play(one: Step, isAlone: boolean): Promise<void> {
    const found = chosen(one);
    if (found === undefined) return;
    const { move, choice, request } = found;
    const { team, dialect, places } = choice;
    const file = world.lines.get(choice.input?.id ?? "");
    const lines = file?.named ?? [];
    const named = [...choice.named, ...lines];
    const expected = choice.isRefused ? "refused" : expectationOf({ team, dialect, named, places });
    const fault = drawFault(one, team, isAlone);
    for (const upstream of upstreams) upstream.received.length = 0;
    for (const { thing } of choice.lines?.named ?? []) world.written.add(`${team} ${thing?.id}`);
    const before = new Set([...world.things.values()].filter(({ isShown }) => isShown));
    const answer = await send(one, request);
    const isUnrecorded = database.isAway;
    database.isAway = false;
    faults.delete(team);
    counts.calls++;
    const about = JSON.stringify({ team, dialect, ...request, fault, isAlone, answer, named: named.map(described) });
    const fresh = shownIn(team, move, answer).filter((thing) => !before.has(thing));
    expect(foreignIn(team, move, answer), about).toEqual([]);
    for (const upstream of upstreams) expect(upstream.foreign, about).toEqual([]);
    if (isUnrecorded)
      expect(
        fresh.filter((thing) => needsOwner(thing, named)),
        about,
      ).toEqual([]);
    const made = choice.lines && fresh.find(({ kind }) => kind === "file");
    if (made !== undefined && choice.lines !== undefined) world.lines.set(made.id, choice.lines);
    // The file that a batch names is read before it is known what its lines name.
    if (fault !== undefined && lines.length > 0) return;
    if (expected === "refused") {
      counts.refused++;
      if (lines.some((each) => stateOf(each, team, dialect) === "foreign")) counts.refusedLines++;
      // Beside another call its fault may strike the reading of a batch's lines.
      const refusals = isAlone ? [400, 404] : [400, 404, 502];
      expect([refusals.includes(answer.status), answer.isOurs], about).toEqual([true, true]);
      const received = upstreams.flatMap((upstream) => upstream.received);
      const others = file === undefined ? received : received.filter(({ method }) => method !== "GET");
      if (isAlone) expect(others, about).toEqual([]);
    }
    if (!isAlone || fault !== undefined) return;
    if (expected === "elsewhere") expect([answer.status, answer.isOurs], about).toEqual([404, true]);
    if (expected !== "reached") return;
    // A file without lines is none for a batch.
    const isNone = choice.input !== undefined && file === undefined;
    if (!isNone) expect(answer.isOurs, about).toBe(false);
    if (answer.status < 300) {
      counts.reached++;
      if (file !== undefined) counts.batches++;
      if (named[0]?.thing?.place === 1 && places.length > 1) counts.atSecond++;
    }
    if (choice.listed !== undefined) await walk(one, found, answer.text);
  }

  /** Goes through the pages of a list, which is to have the team's objects, each once. */
  async function walk(
    one: Step,
    { move, choice, request }: NonNullable<ReturnType<typeof chosen>>,
    first: string,
  ): Promise<void> {
    const ids: string[] = [];
    const kinds = choice.listed ?? [];
    for (let page = 0, text = first; page < 1_000; page++) {
      const answer = JSON.parse(text);
      const objects: readonly { id?: string; name: string }[] =
        answer.data ?? answer.files ?? answer.cachedContents ?? answer.operations ?? [];
      ids.push(...objects.map(({ id, name }) => id ?? name.split("/")[1] ?? ""));
      const token = answer.next_page ?? answer.nextPageToken;
      if (token !== undefined && token !== null)
        world.pages.push({ team: choice.team, operation: move.operation, token });
      const next: readonly [string, string] | undefined = token
        ? [move.dialect === "gemini" ? "pageToken" : "page", token]
        : answer.has_more === true
          ? [move.dialect === "anthropic" ? "after_id" : "after", answer.last_id]
          : undefined;
      if (next === undefined) break;
      const path = `${request.path}&${new URLSearchParams([[...next]])}`;
      const further = await send(one, { ...request, path });
      expect(foreignIn(choice.team, move, further), path).toEqual([]);
      expect(further.status, `${path}: ${further.text}`).toBe(200);
      text = further.text;
    }
    const [place] = PLACES[GATEWAYS[one.gateway] ?? "plain"];
    const own = [...world.things.values()].filter((thing) =>
      [
        thing.team === choice.team,
        thing.dialect === move.dialect,
        kinds.includes(thing.kind),
        thing.place === place,
      ].every(Boolean),
    );
    const listed = own.filter(({ id }) => ids.includes(id));
    expect(listed.length, `${move.operation}: ${ids}`).toBe(ids.length);
    expect(
      own.filter((one) => one.isShown && !one.isGone && !one.isGivenTwice && !ids.includes(one.id)),
      move.operation,
    ).toEqual([]);
    counts.listed++;
  }

  /** Plays the calls of a seed, on upstreams that keep nothing yet. */
  async function explore(seed: number): Promise<void> {
    world.clear();
    for (const upstream of upstreams) upstream.foreign.length = 0;
    isDown = seed % 4 === 3;
    const [all = []] = sample(steps, { seed, numRuns: 1 });
    for (let at = 0; at < all.length; at++) {
      const [one, other] = [all[at], all[at + 1]];
      if (one === undefined) break;
      if (!one.isBeside || other === undefined || at % 4 !== 0) await play(one, true);
      else {
        await Promise.all([play(one, false), play(other, false)]);
        at++;
      }
    }
  }

  test("every operation that has to do with what upstreams keep is played", () => {
    const played = new Set(MOVES.map(({ operation }) => operation));
    expect(SERVED_OPERATIONS.filter((one) => GATEWAY_OPERATIONS[one].kept !== undefined && !played.has(one))).toEqual(
      [],
    );
  });

  test("b372, b375, b401, b403, b408, b410, b413, b417, b421: whatever teams with one credential call, each reaches what it has made, and nothing of another's", {
    timeout: (MINUTES + 5) * 60_000,
  }, async () => {
    const until = performance.now() + MINUTES * 60_000;
    for (let run = 0; MINUTES > 0 ? performance.now() < until : run < examples(2); run++) {
      const seed = SEED + run;
      try {
        await explore(seed);
      } catch (error) {
        throw new Error(`KEYPLANE_SEED=${seed} plays it again`, { cause: error });
      }
    }
    console.log(`KEYPLANE_SEED=${SEED}: ${JSON.stringify(counts)}`);
    for (const count of Object.values(counts)) expect(count, JSON.stringify(counts)).toBeGreaterThan(0);
  });
});
