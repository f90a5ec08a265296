import { randomBytes } from "node:crypto";
import { keyDigest, keyPrefix, mintKey } from "../../../domain/key/secret/key-format.ts";
import { LEASE_MS } from "../../../domain/protocol.ts";
import { createMetrics } from "../../../processes/metrics.ts";
import type { Clock } from "../../../runtime/clock.ts";
import { createLog } from "../../../runtime/log.ts";
import { StreamRegistry } from "../../../server/calls/open-streams.ts";
import type { Placeholder } from "../../../server/context/placeholders.ts";
import { feedOf } from "../../../server/key-index/feed.ts";
import { Replica } from "../../../server/key-index/replica.ts";
import type { Store } from "../../../store/database/store.ts";
import { parseKeyring } from "../../../store/encryption/keyring.ts";
import { reserveVersion } from "../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../../store/keys/lifecycle/key-versions.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { type Home, reservationOf, run } from "../../store/fixtures.ts";

/** The real time, moved by what a test adds to either of its clocks. */
export function shiftableClock(): Clock & { wall: number; steady: number } {
  const clock = {
    wall: 0,
    steady: 0,
    now: () => Date.now() + clock.wall,
    monotonic: () => performance.now() + clock.steady,
  };
  return clock;
}

export const keyring = parseKeyring(randomBytes(32).toString("base64"));

/** A replica on a store, started; `lines` are its log's. */
export function startReplica(store: Store, placeholders: readonly Placeholder[] = [], feedStore = store) {
  const clock = shiftableClock();
  const metrics = createMetrics();
  const streams = new StreamRegistry(metrics.countCutStream);
  const lines: string[] = [];
  const log = createLog("debug", { write: (line) => lines.push(line) });
  const id = `replica-${randomBytes(6).toString("hex")}`;
  const replica = new Replica({
    id,
    feed: feedOf(store, feedStore, keyring),
    leaseMs: LEASE_MS,
    keyring,
    clock,
    log,
    metrics,
    streams,
    placeholders,
  });
  replica.start();
  return { id, replica, view: replica.view, clock, metrics, streams, lines };
}

/** A key with one active version in the store: its plaintext, digest and id. */
export async function storeKey(store: Store, home: Home, overrides: Parameters<typeof reservationOf>[1] = {}) {
  const plaintext = mintKey(randomBytes);
  const digest = keyDigest(plaintext);
  const reservation = reservationOf(home, { digest, prefix: keyPrefix(plaintext), ...overrides });
  const keyId = reservation.key.id;
  await run(store, (tx) => reserveVersion(tx, reservation));
  await run(store, (tx) => activateVersion(tx, { keyId, number: 1, overlapMs: 0 }));
  return { plaintext, digest, keyId, revoke: () => run(store, (tx) => revokeKey(tx, keyId, "ByHand")) };
}
