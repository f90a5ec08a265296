import type { CallerNetwork } from "../../../../domain/access/caller-network.ts";
import { API_CLUSTER } from "../../../../domain/api-cluster.ts";
import type { ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import { retiringEndsAt } from "../../../../domain/key/stored/version-slots.ts";
import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import { type ListedKey, type ListedState, listedState } from "../../../../store/keys/search/key-lists.ts";
import type { KeyNames } from "../../../../store/keys/search/key-names.ts";
import { shownSpec } from "./key-spec.ts";
import type { Receipt } from "./receipt.ts";

/** Key as the management API shows it: never a secret, never a digest. Times are RFC 3339. */
export type KeyJson = KeyRowJson & {
  /** Networks that it was called from within 40 days, the last networks first. */
  readonly lastNetworks: readonly CallerNetwork[];
  readonly revocation: (Receipt & { readonly reason: string; readonly at: string }) | null;
};

/** Key as a row of a list shows it. */
export type KeyRowJson = {
  readonly id: string;
  /** Prefix of the version in use, or of the last version. */
  readonly prefix: string | null;
  readonly name: string;
  readonly displayName: string;
  /** Namespace; empty for a key that was made by hand without one. */
  readonly namespace: string;
  /** Name of the team. */
  readonly team: string;
  readonly teamId: string;
  readonly scopes: readonly string[];
  readonly state: ListedState;
  readonly versions: readonly VersionJson[];
  /** End of the key or of the version in use, whichever comes first. */
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
  /** Object that declares it; null for a key that no declaration governs. */
  readonly declaredIn: { readonly cluster: string; readonly kind: "PlatformKey"; readonly uid: string } | null;
  /** True if its declaration has released it and nothing governs it any more: it can be revoked, and nothing else. */
  readonly released: boolean;
  /** Manager of the key other than PlatformKeys, such as the URN of a Pulumi resource or a library; null for none. */
  readonly managedBy: string | null;
  readonly rotationRequestedAt: string | null;
  /** Requested spec, in the fields of a PlatformKey. */
  readonly spec: ApiManagedKeySpec;
};

export type VersionJson = {
  readonly number: number;
  readonly prefix: string;
  readonly state: string;
  readonly mintedAt: string;
  readonly activatedAt: string | null;
  /** Time at which a retiring version stops working, or a retired version stopped. */
  readonly retiresAt: string | null;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  /** Time of the first report that it was leaked. */
  readonly leakedAt: string | null;
};

/** Values for a row of a list that are not in the stored key. */
type KeyRowDetails = {
  readonly names: KeyNames;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

type KeyDetails = KeyRowDetails & {
  readonly networks: readonly CallerNetwork[];
  /** Receipt of its revocation, if it is revoked. */
  readonly receipt: Receipt;
};

export function keyJson(key: ListedKey, { networks, receipt, ...details }: KeyDetails): KeyJson {
  return {
    ...keyRowJson(key, details),
    lastNetworks: networks,
    revocation: key.revocation && { reason: key.revocation.reason, at: iso(key.revocation.at), ...receipt },
  };
}

export function keyRowJson(key: ListedKey, { names, now }: KeyRowDetails): KeyRowJson {
  const current = key.versions.find(({ state }) => state === "active") ?? key.versions[0];
  const ends = [key.policy.expiresAt, current?.expiresAt ?? null].filter((end) => end !== null);
  const uses = key.versions.map(({ lastUsedAt }) => lastUsedAt).filter((at) => at !== null);
  return {
    id: key.id,
    prefix: current?.prefix ?? null,
    name: key.name,
    displayName: key.policy.displayName,
    namespace: key.namespace,
    team: names.teams.get(key.teamId) ?? key.teamId,
    teamId: key.teamId,
    scopes: key.policy.scopes,
    state: listedState(key, now),
    versions: key.versions.map((version) => ({
      number: version.number,
      prefix: version.prefix,
      state: version.state === "retiring" && retiringEndsAt(version) <= now ? "retired" : version.state,
      mintedAt: iso(version.mintedAt),
      activatedAt: iso(version.activatedAt),
      retiresAt: iso(retiresAt(version, key)),
      expiresAt: iso(version.expiresAt),
      lastUsedAt: iso(version.lastUsedAt),
      leakedAt: iso(version.leakedAt),
    })),
    expiresAt: ends.length === 0 ? null : iso(Math.min(...ends)),
    lastUsedAt: uses.length === 0 ? null : iso(Math.max(...uses)),
    createdAt: iso(key.createdAt),
    declaredIn: key.ownerUid === null ? null : { cluster: key.cluster, kind: "PlatformKey", uid: key.ownerUid },
    released: key.ownerUid === null && key.cluster !== API_CLUSTER && key.managedBy === null,
    managedBy: key.managedBy,
    rotationRequestedAt: iso(key.rotationRequest?.at ?? null),
    spec: shownSpec(key, names),
  };
}

/**
 * Returns when a version retires or retired. A version that ended without an overlap ended when the next version was
 * activated.
 */
function retiresAt(version: ListedKey["versions"][number], { versions }: ListedKey): number | null {
  if (version.state === "retiring") return retiringEndsAt(version);
  if (version.state !== "retired" || version.retireAt !== null) return version.retireAt;
  const successor = versions.findLast(({ number, activatedAt }) => number > version.number && activatedAt !== null);
  return successor?.activatedAt ?? null;
}

function iso(at: number): string;
function iso(at: number | null): string | null;
function iso(at: number | null): string | null {
  return at === null ? null : rfc3339Millis(at);
}
