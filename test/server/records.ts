/** Records and clocks for tests that decide, count and limit without a server: to import one takes a second. */
import type { GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import { SCOPES, scopeSet } from "../../domain/access/scopes.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { IndexedKey } from "../../store/keys/rows/key-records.ts";

/** A clock that stands still until a test moves it. */
export type TestClock = Clock & { set(now: number): void; advance(milliseconds: number): void };

export function testClock(start = Date.UTC(2026, 10, 20)): TestClock {
  let now = start;
  let monotonic = 1_000;
  return {
    now: () => now,
    monotonic: () => monotonic,
    set: (time) => {
      now = time;
    },
    advance: (milliseconds) => {
      now += milliseconds;
      monotonic += milliseconds;
    },
  };
}

let serial = 0;

/** A usable key with every right in team `team-a`, but for what is given. */
export function keyRecord(fields: Partial<KeyRecord> = {}): KeyRecord {
  return {
    keyId: `key_${++serial}`,
    version: 1,
    teamId: "team-a",
    namespace: "a-dev",
    teamHoldsNamespace: true,
    state: "active",
    versionState: "active",
    expiresAt: Number.POSITIVE_INFINITY,
    scopes: scopeSet(SCOPES),
    boundGatewayId: null,
    libraryIds: null,
    mcpDefaultLibraryId: null,
    teamDefaultLibraryId: null,
    allowedModels: null,
    rateLimit: null,
    concurrent: null,
    tokenLimit: null,
    subject: null,
    allowedCIDRs: null,
    teamAllowedCIDRs: null,
    teamLimits: null,
    ...fields,
  };
}

/** A record as the store hands it to an index. */
export function indexedKey(digest: string, record: KeyRecord, importedFormat = false): IndexedKey {
  const { keyId, version, expiresAt, ...attributes } = record;
  return { digest, keyId, version, expiresAt, importedFormat, attributes };
}

export function gatewayRecord(fields: Partial<GatewayRecord> = {}): GatewayRecord {
  const id = ++serial;
  return {
    gatewayId: `gw_${id}`,
    publicId: `gateway-${id}`,
    teamId: "team-a",
    teamHoldsNamespace: true,
    routesOnly: false,
    operations: ["generate", "embed", "models"],
    upstreams: [],
    routes: [],
    ...fields,
  };
}
