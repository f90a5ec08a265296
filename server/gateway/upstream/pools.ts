import { Client, type Dispatcher, Pool } from "undici";
import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import { type Needle, needleOf } from "../headers/credential-mask.ts";
import { SeenNames } from "../headers/header-names.ts";
import { type CredentialHeader, credentialHeader } from "../headers/headers.ts";
import { type PathPrefixes, pathPrefixes } from "../request-target.ts";
import type { AddressGuard } from "./addresses.ts";
import { assertAllowed, CONNECT_MS, guardedConnector } from "./guarded-connector.ts";
import { lookupLimit } from "./lookup-limit.ts";
import { RetryBudget } from "./retry.ts";
import { UpstreamBreaker } from "./upstream-breaker.ts";
import { type SlotLimits, slotLimits, UpstreamSlots } from "./upstream-slots.ts";

/** The sockets to one upstream, and what all requests to it have in common. */
export type UpstreamPool = {
  readonly pool: Pool;
  /** Opens a socket for one request alone; to be closed as soon as that is dispatched. */
  readonly fresh: () => Dispatcher;
  /** Prefixes of an operation's path there. */
  readonly prefixes: PathPrefixes;
  /** Header that carries the provider's credential. */
  readonly credentialHeader: CredentialHeader;
  /** The same credential, to be taken out of what comes back. */
  readonly needle: Needle;
  /** Names of the headers that came from there. */
  readonly names: SeenNames;
  /** Slots: a call takes one before it is dispatched, and gives it back when it has ended. */
  readonly slots: UpstreamSlots;
  /** Breaker, which a call that takes a slot is noted at. */
  readonly breaker: UpstreamBreaker;
  readonly retries: RetryBudget;
};

/** An upstream whose credential can be read, or that is declared without one. */
export type ReachableUpstream = UpstreamRecord & { readonly credential: string | false };

/** True if calls may go to an upstream: it has its credential, or is declared without one. */
export function mayBeAsked(upstream: UpstreamRecord): upstream is ReachableUpstream {
  return upstream.credential !== null;
}

/** The sockets to upstreams. No two provider credentials ever share one (threats b42, b44). */
export type UpstreamPools = {
  /**
   * Returns the pool for one upstream with the credential that it has now.
   *
   * @param teamId team of the gateway
   * @throws AddressRefusedError if the base URL is an address that no upstream may have
   */
  poolOf(gatewayId: string, upstream: ReachableUpstream, teamId: string): UpstreamPool;
  /** True if a call that may go to another upstream is to go there, since this one has failed several times in a row. */
  isLeftOut(upstream: UpstreamRecord): boolean;
  readonly size: number;
  /**
   * Counts the calls to all upstreams: under way, queued, and refused so far because too many waited, or for too long;
   * and the upstreams that are left out.
   */
  figures(): { inUse: number; queued: number; refused: number; leftOut: number };
  /** Closes the pools that no call has used for {@link IDLE_MS}. */
  closeIdle(): void;
  close(): Promise<void>;
};

/**
 * Milliseconds that an idle socket is kept: less than the five seconds after which common model servers hang up on an
 * idle connection without having said so.
 */
const KEEP_ALIVE_MS = 4_000;
const IDLE_MS = 5 * 60_000;
const IDLE_CHECK_INTERVAL_MS = 60_000;

type PoolEntry = UpstreamPool & { readonly gatewayId: string; usedAt: number };

/** Names that are looked up at once: each takes one of the process's few threads for as long as its servers like. */
const MAX_LOOKUPS = 2;

/** @param monotonic milliseconds on a clock that never jumps */
export function createUpstreamPools(
  guard: AddressGuard,
  monotonic: () => number,
  limits: SlotLimits = slotLimits(1),
): UpstreamPools {
  const pools = new Map<string, PoolEntry>();
  /**
   * The same pools, by the record that they were requested with: a record never changes, and its look-up needs no text.
   */
  const byRecord = new WeakMap<UpstreamRecord, PoolEntry>();
  // The slow name servers of one team's upstreams hold up no other team (threats b101).
  const limit = lookupLimit({ most: MAX_LOOKUPS, patienceMs: CONNECT_MS }, monotonic);
  /** Calls that were refused by pools that are closed by now. */
  let refusedBefore = 0;

  const entryOf = (
    gatewayId: string,
    { name, dialect, baseUrl, credential }: ReachableUpstream,
    teamId: string,
  ): PoolEntry => {
    // Structured, not joined: no two identities can be spelt alike.
    const identity = JSON.stringify([gatewayId, name, dialect, baseUrl, credential]);
    const known = pools.get(identity);
    if (known !== undefined) return known;
    const base = new URL(baseUrl);
    const options = socketOptions(base, limit(guard, teamId));
    const entry: PoolEntry = {
      gatewayId,
      pool: new Pool(base.origin, { ...options, connections: limits.calls }),
      fresh: () => new Client(base.origin, options),
      prefixes: pathPrefixes(base, dialect),
      credentialHeader: credentialHeader(dialect, credential),
      needle: needleOf(credential || ""),
      names: new SeenNames(),
      slots: new UpstreamSlots(limits),
      breaker: new UpstreamBreaker(monotonic),
      retries: new RetryBudget(),
      usedAt: 0,
    };
    pools.set(identity, entry);
    return entry;
  };

  const closeIdle = (): void => {
    for (const [identity, { pool, slots, usedAt }] of pools) {
      if (monotonic() - usedAt < IDLE_MS || pool.stats.size > 0) continue;
      pools.delete(identity);
      refusedBefore += slots.figures.refused;
      void pool.close();
    }
  };
  const idleCheck = setInterval(closeIdle, IDLE_CHECK_INTERVAL_MS).unref();

  return {
    poolOf(gatewayId, upstream, teamId) {
      let entry = byRecord.get(upstream);
      if (entry === undefined || entry.gatewayId !== gatewayId || entry.pool.closed) {
        entry = entryOf(gatewayId, upstream, teamId);
        byRecord.set(upstream, entry);
      }
      entry.usedAt = monotonic();
      return entry;
    },
    isLeftOut(upstream) {
      return byRecord.get(upstream)?.breaker.isLeftOut === true;
    },
    get size() {
      return pools.size;
    },
    figures() {
      const sum = { inUse: 0, queued: 0, refused: refusedBefore, leftOut: 0 };
      for (const { slots, breaker } of pools.values()) {
        const { inUse, queued, refused } = slots.figures;
        sum.inUse += inUse;
        sum.queued += queued;
        sum.refused += refused;
        if (breaker.isLeftOut) sum.leftOut++;
      }
      return sum;
    },
    closeIdle,
    async close() {
      clearInterval(idleCheck);
      const open = [...pools.values()];
      pools.clear();
      await Promise.all(open.map(({ pool }) => pool.destroy()));
    },
  };
}

/**
 * Returns the options of a socket.
 *
 * @throws AddressRefusedError if the host is an address that may not be connected to
 */
function socketOptions({ hostname }: URL, guard: AddressGuard): Client.Options {
  assertAllowed(hostname, guard);
  return {
    connect: guardedConnector(guard),
    // One request at a time on a socket: an upstream cannot answer one tenant's request with another's.
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
}
