/**
 * How a key's Secret is observed: from what was answered last, as long as nothing else has been heard of it; else by
 * reading it. What is heard may keep a key at rest. That a Secret is lost or was edited is decided by a read alone.
 */
import { isDeepStrictEqual } from "node:util";
import type { DeclaredKey } from "../../domain/key/declared-key.ts";
import { keyDigest } from "../../domain/key/key-format.ts";
import type { ObservedSecret } from "../../domain/key/observed-key.ts";
import type { Endpoints } from "../../domain/key/secret-template.ts";
import type { LoadedKey } from "../../store/keys/key-rows.ts";
import type { KeySecret } from "../../store/keys/key-secrets.ts";
import { findKeyOfDigest } from "../../store/keys/keys.ts";
import { type DeclaredObject, KEY_LABEL, type SecretObject } from "../cluster/port.ts";
import type { ControllerDeps } from "../deps.ts";
import type { Delivered } from "./key-memory.ts";
import { deliveredAs, observeDelivered, secretState } from "./key-secret.ts";
import { readIfAllowed } from "./secret-reading.ts";

/** A key's Secret is the one that its declaration names; these decide what it should be. */
export type SecretContext = {
  readonly object: DeclaredObject<"PlatformKey">;
  readonly declared: DeclaredKey;
  readonly stored: LoadedKey | undefined;
  readonly endpoints: Endpoints;
};

export type SecretObservation = {
  readonly observed: ObservedSecret;
  /** As it was read, for writes under its uid and resourceVersion; undefined where it was not. */
  readonly secret: SecretObject | undefined;
  readonly isRead: boolean;
};

/** Looks at a key's Secret without a request, where that will do. */
export async function observeSecret(deps: ControllerDeps, context: SecretContext): Promise<SecretObservation> {
  const observed = recallSecret(deps, context);
  return observed === undefined ? readSecretOf(deps, context) : { observed, secret: undefined, isRead: false };
}

function recallSecret(deps: ControllerDeps, context: SecretContext): ObservedSecret | undefined {
  const { object, declared, stored, endpoints } = context;
  const known = knownSecret(deps, object.uid, stored);
  if (known === null) return undefined;
  const heard = deps.cluster.cachedSecretVersion(object.namespace, declared.secret.name);
  if (heard === null && known === undefined && !object.deleting && isUnpublished(deps, object.uid, stored)) {
    // Creating it decides: where there is one all the same, nothing is written, and it is read.
    return { state: "absent" };
  }
  if (heard === undefined || heard === null || known?.resourceVersion !== heard || stored === undefined)
    return undefined;
  return observeDelivered(known, object, declared, stored, endpoints);
}

/** What this process has seen of it last, or else what was found by one before it. */
function knownSecret(
  { keyMemory }: ControllerDeps,
  uid: string,
  stored: LoadedKey | undefined,
): Delivered | null | undefined {
  const seen = keyMemory.delivered.get(uid);
  if (seen !== undefined) return seen;
  const found = stored?.secretFound;
  const version = found && stored.versions.find(({ number }) => number === found.number);
  return version ? { ...found, digest: version.digest } : undefined;
}

/** What a process after this one should know of a key's Secret; undefined where that is recorded, or there is nothing. */
export function secretToRecord(
  { cluster, keyMemory }: ControllerDeps,
  { namespace, uid }: DeclaredObject<"PlatformKey">,
  declared: DeclaredKey,
  stored: LoadedKey | undefined,
): KeySecret | undefined {
  const seen = keyMemory.delivered.get(uid);
  const version = stored?.versions.find(({ digest }) => digest === seen?.digest);
  if (!seen || version === undefined || cluster.cachedSecretVersion(namespace, declared.secret.name) === undefined) {
    return undefined;
  }
  const { resourceVersion, content, marks } = seen;
  const found = { resourceVersion, number: version.number, content, marks };
  return isDeepStrictEqual(found, stored?.secretFound) ? undefined : found;
}

/** Whether no secret of this key can be in any Secret: it has none, or its first one has never left this process. */
function isUnpublished({ keyMemory }: ControllerDeps, uid: string, stored: LoadedKey | undefined): boolean {
  if (stored === undefined) return true;
  const [first, ...others] = stored.versions;
  return (
    stored.lastNumber === 1 &&
    others.length === 0 &&
    first !== undefined &&
    first.digest === keyMemory.held.get(uid)?.digest
  );
}

/** Reads a key's Secret. */
export async function readSecretOf(deps: ControllerDeps, context: SecretContext): Promise<SecretObservation> {
  const { object, declared, stored, endpoints } = context;
  const read = await readIfAllowed(deps.cluster, object.namespace, declared.secret.name);
  if ("why" in read) {
    deps.keyMemory.delivered.set(object.uid, null);
    return { observed: { state: "unreadable", why: read.why }, secret: undefined, isRead: true };
  }
  const { secret } = read;
  const isMinted = await isMintedForThisName(deps, secret, object, declared);
  const observed = secretState(secret, isMinted, object, declared, stored, endpoints);
  rememberSecret(deps, context, secret, observed);
  return { observed, secret, isRead: true };
}

/** Takes note of a Secret as the cluster has answered with it. */
export function rememberSecret(
  { keyMemory }: ControllerDeps,
  { object, declared, stored, endpoints }: SecretContext,
  secret: SecretObject | undefined,
  observed: ObservedSecret = secretState(secret, false, object, declared, stored, endpoints),
): void {
  const delivered = secret && deliveredAs(secret, observed, object, declared, stored, endpoints);
  keyMemory.delivered.set(object.uid, delivered ?? null);
}

/**
 * Whether an unowned Secret that is labelled as this key's holds a secret that was minted for a key of this name. One
 * that a former declaration released is nobody's: it delivers a key that lives on.
 */
async function isMintedForThisName(
  { cluster, store }: ControllerDeps,
  secret: SecretObject | undefined,
  { uid, namespace, name }: DeclaredObject<"PlatformKey">,
  declared: DeclaredKey,
): Promise<boolean> {
  const value = secret?.data[declared.secret.dataKey];
  if (secret?.owner !== null || secret.labels[KEY_LABEL] !== name || value === undefined) return false;
  const key = await findKeyOfDigest(store.db, keyDigest(value));
  if (key === undefined || (key.ownerUid !== uid && key.state !== "revoked")) return false;
  return key.cluster === cluster.uid && key.namespace === namespace && key.name === name;
}
