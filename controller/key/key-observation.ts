import type { BudgetStanding } from "../../domain/budget/budget-condition.ts";
import { dependsOnUsage } from "../../domain/key/conditions/stale-consumers.ts";
import type { DeclaredKey, NamedRef } from "../../domain/key/declaration/declared-key.ts";
import type { ResolvedReferences } from "../../domain/key/declaration/resolved-references.ts";
import { declareKey } from "../../domain/key/fields/declare-key.ts";
import { isLost, isTampered } from "../../domain/key/issuance/issuance-policy.ts";
import { importHash, importText } from "../../domain/key/observed/import.ts";
import {
  governedKey,
  type Importable,
  type ObservedDeclaration,
  type ObservedKey,
} from "../../domain/key/observed/observed-key.ts";
import {
  type ReferenceScope,
  referencedLibraries,
  resolveReferences,
} from "../../domain/key/observed/resolve-references.ts";
import { decideTakeOver, type TakeOverRequest } from "../../domain/key/observed/take-over.ts";
import { lowest } from "../../domain/key/policies/bounds.ts";
import { type HoldResult, holdToPolicies } from "../../domain/key/policies/hold-to-policies.ts";
import { isKeyId } from "../../domain/key/stored/key-id.ts";
import { type StoredKey, versionIn } from "../../domain/key/stored/stored-key.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { dataKeyTitle } from "../../domain/redact.ts";
import { readKeyBudgets } from "../../store/budgets/read-budgets.ts";
import type { Db } from "../../store/database/change.ts";
import { findPublicId } from "../../store/gateways/gateways.ts";
import { isPrefixTaken } from "../../store/keys/lifecycle/key-prefixes.ts";
import { type DeclaredRows, findDeclaredKey } from "../../store/keys/rows/declared-key.ts";
import { findKey, findKeyOfDigest } from "../../store/keys/rows/find-key.ts";
import type { LoadedKey } from "../../store/keys/rows/key-rows.ts";
import { countKeysBefore } from "../../store/keys/search/keys-before.ts";
import { gatewayOfPolicy } from "../../store/policies/key-policies.ts";
import { teamNames } from "../../store/teams/team-names.ts";
import { type DeclaredObject, FINALIZER, type SecretObject } from "../cluster/port.ts";
import { readIfAllowed } from "../cluster/secret-reading.ts";
import { policiesOf, seenPolicies } from "../policy/team-policies.ts";
import { hasGivenUp } from "../team/given-up.ts";
import type { KeyDeps } from "./key-deps.ts";
import type { RestartedFor } from "./key-memory.ts";
import { observeAltered, type SecretContext } from "./key-secret.ts";
import { observeUsage, reportedUse } from "./key-usage.ts";
import type { SecretObservation } from "./observe-secret.ts";

/** Observation of a key without a request to the cluster. */
export type DeclarationObservation = Pick<SecretContext, "object" | "declared" | "stored"> & {
  readonly observed: ObservedDeclaration;
  readonly rows: DeclaredRows;
  /** Number of keys that the team may have; null if there is no limit. */
  readonly maxKeys: number | null;
};

/** Observation of a key, with what only acting on it needs. */
export type KeyObservation = DeclarationObservation &
  SecretContext & {
    readonly observed: ObservedKey;
    /**
     * Secret as it was read, for writes under its uid and resourceVersion; undefined if it was not read, or is not
     * there.
     */
    readonly secret: SecretObject | undefined;
    readonly isRead: boolean;
    /** Use of the key's own budgets; empty for a key without budgets, and for a revoked key. */
    readonly budgets: readonly BudgetStanding[];
    /** Name of the team that holds the namespace, or while none does, of the key's own; undefined without either. */
    readonly team: string | undefined;
  };

/**
 * Observes what the declaration of a key and the store say of it.
 *
 * @param rows rows of the key, if they have just been read
 */
export async function observeDeclaration(
  deps: KeyDeps,
  object: DeclaredObject<"PlatformKey">,
  rows?: DeclaredRows,
): Promise<DeclarationObservation> {
  const declaredRaw = declareKey(object.namespace, object.name, object.spec);
  const found = rows ?? (await readRows(deps, object, declaredRaw));
  const { stored, team } = found;
  // Also for a revocation by hand: the receipt says when every replica has acknowledged it.
  if (stored?.revocation?.seq != null) deps.confirmations.changed(object.uid, stored.revocation.seq);
  const { references: resolved } = resolveReferences(declaredRaw, {
    teamId: team?.id ?? null,
    ownTeamId: stored?.teamId ?? null,
    find: foundIn(declaredRaw, found),
  });
  const { effective, verdict, maxKeys } = await holdDeclared(deps, declaredRaw, found, resolved, object);
  const references = verdict.isKeptOff ? await withBoundGateway(deps, resolved, stored) : resolved;
  const declared = (await isLeftBehind(deps, object, effective, stored))
    ? { ...effective, retainOnDelete: false }
    : effective;
  const { generation, deleting, finalizers } = object;
  const hasFinalizer = finalizers.includes(FINALIZER);
  return {
    ...{ object, declared, stored, rows: found, maxKeys },
    observed: { generation, deleting, hasFinalizer, declared, verdict, references, stored },
  };
}

/**
 * True for a key that is to outlive its declaration in a namespace that its team has given up: it ends with it, since it
 * would work again, undeclared, once the team has the namespace back (threats b448).
 */
async function isLeftBehind(
  deps: KeyDeps,
  { deleting, namespace }: DeclaredObject<"PlatformKey">,
  { retainOnDelete }: DeclaredKey,
  stored: LoadedKey | undefined,
): Promise<boolean> {
  if (!deleting || !retainOnDelete) return false;
  const team = await findOwnTeam(deps, stored);
  return team !== undefined && hasGivenUp(deps.cluster, team, namespace);
}

/** Finds the name of the team that a key belongs to; undefined if there is no key. */
async function findOwnTeam({ store }: KeyDeps, key: StoredKey | undefined): Promise<string | undefined> {
  return key && (await teamNames(store.db, [key.teamId])).get(key.teamId);
}

/**
 * Observes all that matters for one declared key.
 *
 * @param look observes the key's Secret
 * @param rows rows of the key, if they have just been read
 */
export async function observeKey(
  deps: KeyDeps,
  object: DeclaredObject<"PlatformKey">,
  look: (deps: KeyDeps, context: SecretContext) => Promise<SecretObservation>,
  rows?: DeclaredRows,
): Promise<KeyObservation> {
  const declaration = await observeDeclaration(deps, object, rows);
  const { declared, stored } = declaration;
  const { now, team } = declaration.rows;
  const endpoints = { publicUrl: deps.publicUrl, gatewayPublicId: declaration.observed.references.gatewayPublicId };
  const context = { object, declared, stored, endpoints };
  const { observed: secretNow, secret, isRead } = await look(deps, context);
  const observed: ObservedKey = {
    ...declaration.observed,
    uid: object.uid,
    secret: secretNow,
    altered: observeAltered(deps.keyMemory.altered.get(object.uid), context, secret),
    namespaceTerminates: await namespaceTerminates(deps, object, stored, secretNow),
    undoneSince: noteUndone(deps, object.uid, isUndone(stored, secretNow) ? now : null),
    secretMarks: stored?.secretFound?.marks ?? [],
    importable:
      stored === undefined || stored.revocation?.reason === "Moved"
        ? await readImportable(deps, object, declared, team?.id ?? null)
        : null,
    held: observeHeld(deps, object.uid, stored),
    confirmed: deps.confirmations.isConfirmed(object.uid),
    restartedVersion: restartedVersion(stored, deps.keyMemory.restarted.get(object.uid) ?? restartedFor(object)),
    usage: stored !== undefined && dependsOnUsage(declared, stored) ? await observeUsage(deps, stored.id) : null,
    reportedUse: reportedUse(object),
    steadyFrom: deps.databaseClock.steadyFrom(now),
  };
  const budgets = await observeBudgets(deps, stored, now);
  const teamName = team?.name ?? (await findOwnTeam(deps, governedKey(observed)));
  return { ...declaration, ...context, observed, secret, isRead, budgets, team: teamName };
}

async function observeBudgets(
  { store }: KeyDeps,
  stored: LoadedKey | undefined,
  now: number,
): Promise<readonly BudgetStanding[]> {
  if (stored === undefined || stored.state === "revoked" || stored.policy.budgets === null) return [];
  return readKeyBudgets(store.db, stored.id, now);
}

/** Applies the policies of the key's team to what is declared. */
async function holdDeclared(
  { cluster, store }: KeyDeps,
  declared: DeclaredKey,
  rows: DeclaredRows,
  references: ResolvedReferences,
  object: DeclaredObject<"PlatformKey">,
): Promise<HoldResult & Pick<DeclarationObservation, "maxKeys">> {
  const { team, stored: row, now } = rows;
  const policies = policiesOf(cluster, rows);
  // A key that was revoked as its namespace moved is history: the declaration starts again.
  const stored = row?.revocation?.reason === "Moved" ? undefined : row;
  const maxKeys = lowest(policies.policies.map((policy) => policy.maxKeys));
  const isCounted = team !== undefined && maxKeys !== null;
  const held = holdToPolicies({
    ...{ declared, isUnread: object.isUnread, stored, now, team: policies },
    isApplied: stored !== undefined && stored.generation >= object.generation,
    applied: stored?.applied ?? null,
    boundTo: await boundGateway(store.db, declared, stored, references),
    // A key that is taken over is already counted among the team's keys.
    keysBefore: isCounted ? await countKeysBefore(store.db, team.id, stored?.id ?? namedKey(object)) : null,
  });
  return { ...held, maxKeys };
}

/**
 * Puts the gateway that a key is bound to in place of another that its declaration names, while that does not hold: the
 * key's Secret leads to its own (threats b451).
 */
async function withBoundGateway(
  { store }: KeyDeps,
  references: ResolvedReferences,
  stored: LoadedKey | undefined,
): Promise<ResolvedReferences> {
  const bound = stored?.policy.boundGatewayId ?? null;
  if (bound === references.gatewayId) return references;
  const publicId = bound === null ? undefined : await findPublicId(store.db, bound);
  if (bound === null || publicId !== undefined) {
    return { ...references, gatewayId: bound, gatewayPublicId: publicId ?? null };
  }
  const missing = [...references.missing, "The gateway that the key is bound to is gone."];
  return { ...references, gatewayId: "", gatewayPublicId: null, missing };
}

/** Returns the gateway that a key is bound to, as policies name it; null if it is bound to none. */
async function boundGateway(
  db: Db,
  { gatewayRef }: DeclaredKey,
  stored: LoadedKey | undefined,
  { gatewayId }: ResolvedReferences,
): Promise<NamedRef | null> {
  const bound = stored?.policy.boundGatewayId ?? null;
  // The id is "" if the gateway is gone: the declaration may name another gateway by now.
  return bound === gatewayId && bound !== "" ? gatewayRef : gatewayOfPolicy(db, bound);
}

function readRows(
  { cluster, store, databaseClock }: KeyDeps,
  { uid, namespace }: DeclaredObject<"PlatformKey">,
  declared: DeclaredKey,
): Promise<DeclaredRows> {
  const refs = { gateway: declared.gatewayRef, libraries: referencedLibraries(declared) };
  const asked = { cluster: cluster.uid, ownerUid: uid, namespace, ...refs, seenPolicies: seenPolicies(cluster) };
  return databaseClock.timed(() => findDeclaredKey(store.db, asked));
}

/** Finds what a declaration without a key imports or takes over; null if it does neither. */
async function readImportable(
  deps: KeyDeps,
  object: DeclaredObject<"PlatformKey">,
  declared: DeclaredKey,
  teamId: string | null,
): Promise<Importable | null> {
  const request = takeOverRequest(object, declared, teamId);
  if (request === undefined) return withoutTaken(deps, declared, await readImport(deps, object, declared));
  const named = namedKey(object);
  const key = named === undefined ? undefined : await findKey(deps.store.db, named);
  const decision = decideTakeOver(request, key);
  return "refused" in decision ? { takeOverRefused: decision.refused } : { takesOver: request.keyId };
}

/** Returns the id of the key that an object names to take over; undefined if it names none, or no valid id. */
function namedKey({ takeOver }: DeclaredObject<"PlatformKey">): string | undefined {
  return takeOver !== null && isKeyId(takeOver) ? takeOver : undefined;
}

/** Returns the take-over that an object requests; undefined if it names no key to take over. */
export function takeOverRequest(
  { takeOver }: DeclaredObject<"PlatformKey">,
  { source }: DeclaredKey,
  teamId: string | null,
): TakeOverRequest | undefined {
  return takeOver === null ? undefined : { keyId: takeOver, hash: source.hash, teamId };
}

/**
 * Reads what `spec.source` would import; null if it has nothing to import. The value itself goes no further than here.
 */
async function readImport(
  deps: KeyDeps,
  { namespace }: DeclaredObject<"PlatformKey">,
  { source }: DeclaredKey,
): Promise<Importable | null> {
  if (source.hash !== undefined) return importHash(source.hash);
  if (source.secretRef === undefined) return null;
  const { name, key } = source.secretRef;
  const read = await readIfAllowed(deps.cluster, namespace, name);
  if ("why" in read) return { problem: `Secret ${name} cannot be read: ${read.why}.` };
  const value = read.secret?.data[key];
  return value === undefined
    ? { problem: `There is no Secret ${name} with ${dataKeyTitle(key)}.` }
    : importText(value.trim());
}

/**
 * Returns a problem instead of an import whose secret or prefix is another key's. An import of a known secret, even an
 * ended one, would be a second key with the same secret. An import under another key's prefix would be taken for that
 * key wherever it is listed or logged.
 */
async function withoutTaken(
  { store: { db } }: KeyDeps,
  { source: { type: source } }: DeclaredKey,
  found: Importable | null,
): Promise<Importable | null> {
  if (found === null || !("digest" in found)) return found;
  if ((await findKeyOfDigest(db, found.digest)) !== undefined) {
    return { problem: "This secret already belongs to a key, or did: a secret is one key's for ever." };
  }
  if (!(await isPrefixTaken(db, { ...found, source, keyId: null }))) return found;
  return {
    problem: `The prefix ${found.prefix} identifies another key: give the first 12 characters of this secret, or import another one.`,
  };
}

/** Returns the look-up of references for {@link resolveReferences}, from rows that were read for the same team. */
function foundIn(declared: DeclaredKey, { gateway, libraryIds }: DeclaredRows): ReferenceScope["find"] {
  const libraries = new Map(
    referencedLibraries(declared).map((ref, i) => [`${ref.namespace}/${ref.name}`, libraryIds[i]]),
  );
  return (kind, { namespace, name }) => {
    if (kind === "ModelGateway") return gateway ?? "absent";
    const id = libraries.get(`${namespace}/${name}`);
    return id === undefined ? "absent" : { id };
  };
}

/**
 * True if the namespace is being deleted and that may be why a Secret has gone, or why it may not be read while its
 * declaration is being deleted.
 */
async function namespaceTerminates(
  { cluster }: KeyDeps,
  { namespace, deleting }: DeclaredObject,
  stored: LoadedKey | undefined,
  secret: ObservedKey["secret"],
): Promise<boolean> {
  const isAsked = secret.state === "absent" || (secret.state === "unreadable" && deleting);
  return isAsked && versionIn(stored, "active") !== undefined && cluster.namespaceTerminates(namespace);
}

/** Returns the number of the reserved version whose plaintext this process holds; null if it holds none. */
function observeHeld({ keyMemory }: KeyDeps, uid: string, stored: ObservedKey["stored"]): number | null {
  const held = keyMemory.held.get(uid);
  const version = stored?.versions.find(({ digest, state }) => digest === held?.digest && state === "reserved");
  return version?.number ?? null;
}

/** True if the key has been delivered and its Secret is lost or edited. */
function isUndone(stored: LoadedKey | undefined, secret: ObservedKey["secret"]): boolean {
  const active = versionIn(stored, "active");
  return active !== undefined && (isLost(secret) || isTampered(secret, active));
}

/**
 * Notes and returns the time since which the Secret is lost or edited, as far as this process knows; null if it is not.
 *
 * @param foundAt time at which it was found lost or edited now, in milliseconds since the epoch; null if it was not
 */
function noteUndone({ keyMemory: { undoneSince } }: KeyDeps, uid: string, foundAt: number | null): number | null {
  const since = foundAt === null ? null : (undoneSince.get(uid) ?? foundAt);
  if (since === null) undoneSince.delete(uid);
  else undoneSince.set(uid, since);
  return since;
}

/** Returns the number of the version that workloads were restarted for; null if the key has another of that number. */
function restartedVersion(stored: LoadedKey | undefined, done: RestartedFor | undefined): number | null {
  const version = stored?.versions.find(({ number, prefix }) => number === done?.number && prefix === done.prefix);
  return version?.number ?? null;
}

/**
 * Reads from the status the version that workloads were restarted for. If the status loses it, an annotation is written
 * again with the same value, which restarts nothing.
 */
function restartedFor({ status }: DeclaredObject<"PlatformKey">): RestartedFor | undefined {
  const number = status?.restartedVersion;
  const versions: unknown[] = Array.isArray(status?.versions) ? status.versions : [];
  const version = versions.filter(isRecord).find((one) => one.number === number);
  const prefix = version?.keyPrefix;
  return typeof number === "number" && typeof prefix === "string" ? { number, prefix } : undefined;
}
