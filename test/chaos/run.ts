/** One run: everything starts, users and faults do what the seed says, and then all must come to rest. */
import { setTimeout as delay } from "node:timers/promises";
import { keyDigest, keyPrefix } from "../../domain/key/secret/key-format.ts";
import { randomFrom } from "../env/random.ts";
import { until } from "../env/until.ts";
import { type Endings, watchEndings } from "../oracle/endings.ts";
import { checkTakeovers, type Leaderships, watchLeaderships } from "../oracle/leaderships.ts";
import { everDeclared, type Model, newModel } from "../oracle/model.ts";
import { callAtRest, hex, type Probers, startProbers } from "../oracle/probers.ts";
import { createReport, type Report, type Violation } from "../oracle/report.ts";
import { findUnrest } from "../oracle/rest.ts";
import {
  checkKept,
  checkPlanted,
  checkRules,
  checkVoided,
  countMinted,
  livingKeysOf,
  type RuleBreach,
} from "../oracle/rules.ts";
import { type SecretLedger, watchSecrets } from "../oracle/secrets.ts";
import { findNoise, nextDeadline } from "../oracle/silence.ts";
import { lookAtSecrets, type Standings, takeIn } from "../oracle/standings.ts";
import { type WatchedObject, watchAll } from "../oracle/watch.ts";
import { countDisturbances, type Disturbances } from "./disturbances.ts";
import { checkEnd } from "./end.ts";
import { keepEvidence } from "./evidence.ts";
import { FAULTS } from "./faults.ts";
import { MOVES } from "./moves.ts";
import { revokeWherePaused } from "./paused.ts";
import { restoreDatabase } from "./restore.ts";
import { scheduleFaults, scheduleMoves } from "./schedule.ts";
import { furnishAll, openStage, type Stage } from "./stage.ts";
import { runWorkloads } from "./workloads.ts";
import { CONTROLLER_USER, type Rights, startWorld, type World } from "./world.ts";

export type ChaosOptions = {
  readonly seed: number;
  readonly minutes: number;
  /** How many keys are declared at the beginning. */
  readonly keys: number;
  /** What a noisy machine may add to the minute in which all comes to rest, in milliseconds. */
  readonly allowance: number;
  readonly rights: Rights;
  /** Whether the database is put back at the end, as it was before the last things that users did. */
  readonly restore: boolean;
  readonly out: (line: string) => void;
};

export type ChaosResult = { readonly faults: number; readonly minted: number; readonly violations: number };

/** After the last fault everything is at rest within this time (I8). Milliseconds. */
const REST_WITHIN = 60_000;
/** How long nothing may be written then. */
const SILENCE = 12_000;
const BETWEEN_RESTS = 2_000;
const BETWEEN_LOOKS = 600;
const BETWEEN_CHECKS = 5_000;

export async function runChaos({
  seed,
  minutes,
  keys,
  allowance,
  rights,
  restore,
  out,
}: ChaosOptions): Promise<ChaosResult> {
  out(`chaos: seed ${seed}, ${minutes} minutes, ${keys} keys, rights ${rights}`);
  const report = createReport(seed, out);
  const world = await startWorld(report, rights);
  const over = new AbortController();
  try {
    const model = newModel();
    const secrets = watchSecrets(model, report);
    const endings = watchEndings(allowance);
    const disturbances = countDisturbances();
    const watches = [
      watchAll(world.kubernetes, "/api/v1/secrets", secrets.see, over.signal),
      watchAll(
        world.kubernetes,
        "/apis/keyplane.dev/v1alpha1/platformkeys",
        (object, gone) => {
          endings.see(object, gone);
          if (gone) void checkGone(world, model, object.metadata, report);
        },
        over.signal,
      ),
    ];
    const stage = openStage(world, model, secrets, report);
    await furnishAll(stage, randomFrom(seed ^ 0xf00d), keys);
    await until("the first keys are delivered", () => secrets.held.length > keys / 2, { timeoutMs: 300_000 });
    report.log(`${keys} keys are declared, and most of them delivered`);

    const probers = startProbers(world.serverUrls, secrets, report, over.signal);
    const looks = startLooks({ stage, probers, endings, disturbances, report }, over.signal);
    const workloads = runWorkloads(stage, report, looks.next, over.signal);
    const progress = setInterval(() => out(progressLine(stage, report, probers)), 30_000);

    const lasts = minutes * 60_000;
    const [faults] = await Promise.all([
      playFaults(world, seed, lasts, { report, disturbances }),
      playMoves(stage, seed, lasts, report),
    ]);
    await stage.settled();
    report.log("the last fault is over");
    clearInterval(progress);
    await comeToRest(stage, allowance, report, () => findNoise(stage, CONTROLLER_USER, SILENCE));
    report.log(`at rest: nothing was written for ${SILENCE / 1_000} s`);
    const known = { standings: await looks.next(), takeovers: looks.leaderships.takeovers };
    await checkEnd(stage, report, known, (url, value) => callAtRest(url, value, allowance));
    checkTakeovers(looks.leaderships.count(), faults, report);
    out(progressLine(stage, report, probers));
    // From here on the store is no witness of what was before.
    over.abort();
    await Promise.all([...watches, workloads, looks.ended]);
    if (restore) {
      await restoreDatabase(stage, randomFrom(seed ^ 0xbac), report);
      await comeToRest(stage, allowance, report);
    }
    return { faults, minted: await countMinted(world.store), violations: report.violations.length };
  } finally {
    over.abort();
    try {
      if (report.violations.length > 0) out(`evidence: ${await keepEvidence(world, report)}`);
    } finally {
      await world.close();
    }
  }
}

function progressLine({ model, secrets }: Stage, report: Report, { counts }: Probers): string {
  const answers = [...counts].sort(([a], [b]) => a - b).map(([status, count]) => `${count} of ${status}`);
  const known = `${model.declared.size} declared, ${secrets.held.length} secrets seen`;
  return `${report.seconds()} s: ${known}, answers ${answers.join(", ")}, violations ${report.violations.length}`;
}

/** Waits until a moment of the schedule. */
async function waitFor(startedAt: number, at: number): Promise<void> {
  await delay(Math.max(0, startedAt + at - performance.now()));
}

async function playMoves(stage: Stage, seed: number, lasts: number, report: Report): Promise<void> {
  const startedAt = performance.now();
  for (const { at, name, seed: own } of scheduleMoves(seed, lasts)) {
    await waitFor(startedAt, at);
    const done = MOVES[name]?.move(stage, randomFrom(own));
    if (done !== undefined) report.note(`${name}: ${done}`);
  }
}

/** Resolves with their number once the last is over. */
async function playFaults(
  world: World,
  seed: number,
  lasts: number,
  { report, disturbances }: { readonly report: Report; readonly disturbances: Disturbances },
): Promise<number> {
  const startedAt = performance.now();
  const scheduled = scheduleFaults(seed, lasts);
  await Promise.all(
    scheduled.map(async ({ at, name, target, lasts: forMs, seed: own }) => {
      await waitFor(startedAt, at);
      disturbances.begin();
      const struck = await FAULTS[name]?.strike(world, target, randomFrom(own));
      if (struck === undefined) throw new Error(`there is no fault ${name}`);
      report.log(`FAULT ${name}: ${struck.of}, for ${(forMs / 1_000).toFixed(1)} s`);
      await delay(forMs);
      await struck.heal();
      disturbances.end();
      report.log(`over: ${name}: ${struck.of}`);
    }),
  );
  return scheduled.length;
}

/**
 * I6: when an object has gone, no key of it lives, unless its finalizer was of no effect: it was stripped, or it was
 * added while the API server was about to delete an object that it had read without one. Garbage collection has those.
 */
async function checkGone(
  { store }: World,
  model: Model,
  gone: WatchedObject["metadata"],
  report: Report,
): Promise<void> {
  const { uid, finalizers = [], deletionTimestamp } = gone;
  if (model.stripped.has(uid) || (finalizers.length > 0 && deletionTimestamp === undefined)) return;
  const ask = async () => ({ living: await livingKeysOf(store, [uid]) });
  const { living } = await until("the store answers", ask, { timeoutMs: 60_000 });
  for (const found of living) report.violation({ rule: "I6", ...found });
}

type Looks = { next(): Promise<Standings>; readonly leaderships: Leaderships; readonly ended: Promise<void> };
type LookDeps = {
  readonly stage: Stage;
  readonly probers: Probers;
  readonly endings: Endings;
  readonly disturbances: Disturbances;
  readonly report: Report;
};

/** Looks at the store all the time, and judges by what it sees. */
function startLooks({ stage, probers, endings, disturbances, report }: LookDeps, signal: AbortSignal): Looks {
  const { world, model, secrets } = stage;
  const leaderships = watchLeaderships();
  let standings: Standings = new Map();
  let fresh = Promise.withResolvers<void>();
  let checkedAt = 0;

  async function look(): Promise<void> {
    const seen = await lookAtSecrets(world.store);
    standings = takeIn(standings, seen);
    await leaderships.look(world.store);
    const ledSince = leaderships.takeovers.at(-1)?.before ?? 0;
    for (const late of endings.late(seen.rows, Math.max(ledSince, disturbances.overSince()))) {
      report.violation({ rule: "6.4", ...late });
    }
    probers.onLook(seen, standings);
    for (const what of unknownTo(standings, secrets, model, seen.beganAt)) report.violation(what);
    fresh.resolve();
    fresh = Promise.withResolvers();
    if (performance.now() < checkedAt + BETWEEN_CHECKS) return;
    checkedAt = performance.now();
    await checkRules(world.store, report);
    await checkKept(world.store, model, report);
    const planted = [...model.planted].map((value) => [hex(keyDigest(value)), keyPrefix(value)] as const);
    await checkPlanted(world.store, new Map(planted), report);
    const held = secrets.held.map(({ digest, title, prefix }) => [hex(digest), `${title} ${prefix}`] as const);
    await checkVoided(world.store, new Map(held), report);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      // PostgreSQL is away, and the next look is soon.
      await look().catch((error: unknown) => report.note(`no look at the store: ${String(error).slice(0, 100)}`));
      await delay(BETWEEN_LOOKS, undefined, { signal }).catch(() => {});
    }
  }

  signal.addEventListener("abort", () => fresh.resolve(), { once: true });
  return {
    leaderships,
    ended: run(),
    async next() {
      // One that began after the question, at the latest the one after the next; none begins after the end.
      for (let look = 0; look < 2 && !signal.aborted; look++) await fresh.promise;
      return standings;
    },
  };
}

/** What a Secret of a key held that the store did not know by then: it was to be reserved before it was written, but by hand. */
function* unknownTo(standings: Standings, secrets: SecretLedger, model: Model, lookedAt: number): Generator<Violation> {
  const byHand = new Set([...model.planted, ...everDeclared(model).map(({ imported }) => imported)]);
  for (const { value, digest, prefix, title, seenAt } of secrets.held) {
    if (seenAt > lookedAt || standings.has(hex(digest)) || byHand.has(value)) continue;
    yield { rule: "reserve before publish", subject: `${title} ${prefix}`, what: "the store does not know it" };
  }
}

/**
 * I8. Rotation by interval goes on for ever: its users make it rare first.
 *
 * @param listen finds what breaks the silence of a rest. Silence is promised once the minute is over; one that is kept
 *   before has come early. Without it rest is believed only then: a process may not have noticed earlier that there is
 *   something to do.
 */
async function comeToRest(
  stage: Stage,
  allowance: number,
  report: Report,
  listen?: () => Promise<RuleBreach[]>,
): Promise<void> {
  for (const one of stage.model.declared.values()) {
    if (one.interval === undefined) continue;
    const path = `/apis/keyplane.dev/v1alpha1/namespaces/${one.namespace}/platformkeys/${one.name}`;
    stage.act(one.title, () => stage.admin.patch(path, { spec: { rotation: { interval: "1000h" } } }));
  }
  await stage.settled();
  const promised = performance.now() + REST_WITHIN;
  const deadline = promised + allowance;
  if (listen === undefined) await delay(REST_WITHIN);
  let unrest: RuleBreach[] = [];
  do {
    const isPromised = performance.now() > promised;
    unrest = await findUnrest(stage);
    if (isPromised) await revokeWherePaused(stage, report);
    const due = await nextDeadline(stage);
    const isQuiet = due === undefined || due > Date.now() + 2 * SILENCE;
    if (unrest.length === 0 && isQuiet) {
      unrest = (await listen?.()) ?? [];
      if (unrest.length === 0 || isPromised) break;
    }
    await delay(BETWEEN_RESTS);
  } while (performance.now() < deadline);
  for (const one of unrest) report.violation({ rule: "I8", ...one });
}
