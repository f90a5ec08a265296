/**
 * Measures `decide` in a process of its own, on an index of as many keys as its argument says, and prints the figures as
 * JSON. Times are of the main thread's CPU, so that other work on the machine does not count. Run by `decide.ts` with
 * `--expose-gc`.
 */

import { hash, randomBytes } from "node:crypto";
import { keyDigest, mintKey } from "../../domain/key/secret/key-format.ts";
import { LEASE_MS } from "../../domain/protocol.ts";
import { createMetrics } from "../../processes/metrics.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { type DecisionDeps, decide } from "../../server/auth/decide.ts";
import { StreamRegistry } from "../../server/calls/open-streams.ts";
import { Lease } from "../../server/key-index/lease.ts";
import { ServedState } from "../../server/key-index/served-state.ts";
import { sharedCells } from "../../server/key-index/shared-cells.ts";
import { toDigest } from "../../store/database/digest.ts";
import { newId } from "../../store/database/ids.ts";
import { parseKeyring } from "../../store/encryption/keyring.ts";
import { ATTRIBUTE_COLUMNS, type IndexedKey, recordReader } from "../../store/keys/rows/key-records.ts";
import type { DecideFigures } from "./decide.ts";
import { figure, median } from "./table.ts";

const ROUNDS = 7;
const CALLS = 100_000;
const CLIENT = { ip: "127.0.0.1" };
/** As many as a busy replica meets again and again: they stay in the processor's caches. */
const HOT = 2_000;
/** As many keys as a snapshot hands over at once. */
const PAGE = 2_000;
const PUBLIC_ID = "bench";

const size = Number(process.argv[2]);
const team = newId("team");
const url = `/g/${PUBLIC_ID}/v1/chat/completions`;
const gateway = {
  gatewayId: newId("gw"),
  publicId: PUBLIC_ID,
  teamId: team,
  teamHoldsNamespace: true,
  routesOnly: false,
  operations: ["generate" as const],
  upstreams: [],
  routes: [],
};
const ask = { product: "gateway", operation: "gateway.chat_completions", publicId: PUBLIC_ID } as const;
/** The head that an SDK sends; the credential's value is put in for each call. */
const head = [
  ["Host", "127.0.0.1:8080"],
  ["Accept", "application/json"],
  ["Content-Type", "application/json"],
  ["User-Agent", "OpenAI/JS 7.55.0"],
  ["X-Stainless-Lang", "js"],
  ["Authorization", ""],
  ["Content-Length", "180"],
  ["Connection", "keep-alive"],
].flat();
const CREDENTIAL = head.indexOf("Authorization") + 1;

const lease = Lease.begin(systemClock);
const state = new ServedState(
  { keyring: parseKeyring(randomBytes(32).toString("base64")), placeholders: [], log: createLog("silent") },
  lease,
  sharedCells(),
);
const deps: DecisionDeps = {
  index: state,
  clock: { now: () => lease.now(), monotonic: systemClock.monotonic },
  metrics: createMetrics(),
  streams: new StreamRegistry(() => {}),
  installationLimits: null,
  config: { vendorHeader: "x-goog-api-key", production: true, placeholders: [] },
};

/** Texts as the parser makes them: flat, and shared with no other. */
const flat = (text: string): string => Buffer.from(text, "latin1").toString("latin1");

/** A row of the view for one key, with what all have in common: each text of it is a string of its own. */
const readRow = recordReader();
/** All columns behind the scopes. */
const NONE = ",".repeat(ATTRIBUTE_COLUMNS.length - ATTRIBUTE_COLUMNS.indexOf("scopes") - 1);
function indexedKey(key: string): IndexedKey {
  return readRow({
    key_id: flat(newId("key")),
    version: 1,
    digest: toDigest(keyDigest(key)),
    is_foreign: false,
    expires_ms: null,
    attributes: flat(
      `(${team},research-dev,t,active,active,"gateway:generate gateway:embed gateway:routes memory:read"${NONE})`,
    ),
  });
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function heapBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

/** Nanoseconds of CPU for one call. */
function timed(run: () => void): number {
  const before = cpuMs();
  run();
  return ((cpuMs() - before) * 1e6) / CALLS;
}

/** How often `decide` answers with this verdict for the credentials, each once in turn up to {@link CALLS}. */
function decideAll(credentials: readonly string[], verdict: string): void {
  let count = 0;
  for (let i = 0; i < CALLS; i++) {
    head[CREDENTIAL] = credentials[i % credentials.length] ?? "";
    const decision = decide(deps, head, url, ask, CLIENT);
    if (decision instanceof Promise) throw new Error("no key here has a limit of the installation");
    if ((decision.granted ? "granted" : decision.cause) === verdict) count++;
  }
  if (count !== CALLS) throw new Error(`${CALLS - count} of ${CALLS} decisions are not ${verdict}`);
}

function lookUpAll(floor: ReadonlyMap<string, unknown>, keys: readonly string[], known: boolean): void {
  let count = 0;
  for (let i = 0; i < CALLS; i++) {
    if (floor.has(hash("sha256", keys[i % keys.length] ?? "", "binary")) === known) count++;
  }
  if (count !== CALLS) throw new Error("the floor's look-ups found something else than was put in");
}

const sampled = Math.min(size, CALLS);
const stride = Math.floor(size / sampled);
const minted = Array.from({ length: sampled }, () => flat(mintKey(randomBytes)));
/** Outside of the heap, for the floor to be made of once the index has been weighed. */
const digests = Buffer.alloc(32 * size);
const empty = heapBytes();
const index = state.emptyIndex(size);
let buildMs = 0;
for (let i = 0; i < size; ) {
  const page: IndexedKey[] = [];
  for (; page.length < PAGE && i < size; i++) {
    const one = indexedKey((i % stride === 0 ? minted[i / stride] : undefined) ?? mintKey(randomBytes));
    digests.write(one.digest, 32 * i, "latin1");
    page.push(one);
  }
  const start = cpuMs();
  for (const key of page) index.add(key);
  buildMs += cpuMs() - start;
}
state.replace(index, { head: 1, headId: null, gateways: [gateway], teams: [] });
const bytesPerKey = (heapBytes() - empty) / size;

const floor = new Map<string, unknown>();
for (let i = 0; i < size; i++) floor.set(digests.toString("latin1", 32 * i, 32 * (i + 1)), {});
// Asked for in another order than they were put in.
minted.sort();
const unknown = Array.from({ length: sampled }, () => flat(mintKey(randomBytes)));
const misspelt = minted.map((key) => flat(key.slice(0, -1) + (key.endsWith("0") ? "1" : "0")));
const hot = minted.slice(0, HOT);
const cases = [
  { what: "a key, uniform over all", keys: minted, verdict: "granted" },
  ...(size > HOT ? [{ what: `a key, one of ${figure(HOT)}`, keys: hot, verdict: "granted" }] : []),
  { what: "an unknown key", keys: unknown, verdict: "unknown" },
  { what: "a wrong checksum", keys: misspelt, verdict: "malformed" },
].map((one) => ({ ...one, credentials: one.keys.map((key) => flat(`Bearer ${key}`)), decided: [0], floor: [0] }));

for (let round = 0; round <= ROUNDS; round++) {
  for (const one of cases) {
    lease.renew(lease.moment(), LEASE_MS);
    const decided = timed(() => decideAll(one.credentials, one.verdict));
    const floored = timed(() => lookUpAll(floor, one.keys, one.verdict === "granted"));
    // The first round is for the compiler.
    if (round === 0) [one.decided, one.floor] = [[], []];
    else {
      one.decided.push(decided);
      one.floor.push(floored);
    }
  }
}

const figures: DecideFigures = {
  keys: size,
  bytesPerKey,
  buildMs,
  cases: cases.map(({ what, decided, floor }) => ({ what, decided: median(decided), floor: median(floor) })),
};
process.stdout.write(JSON.stringify(figures));
