import { condition } from "../../domain/conditions.ts";
import {
  credentialsAccepted,
  gatewayCredentials,
  type MissingCredential,
  publicIdAccepted,
  type RefusingUpstream,
} from "../../domain/object-conditions.ts";
import { isSendableCredential } from "../../domain/provider-credential.ts";
import { generatedPublicId } from "../../domain/public-id.ts";
import { change } from "../../store/database/change.ts";
import { PublicIdTakenError } from "../../store/database/errors.ts";
import { findPublicIdOfPlace, type GatewayDraft, releaseGateway, saveGateway } from "../../store/gateways/gateways.ts";
import { upstreamStates } from "../../store/gateways/upstream-outcomes.ts";
import { findActiveObject } from "../../store/objects/objects.ts";
import { findTeamOfNamespace } from "../../store/teams/teams.ts";
import { mergeConditions } from "../cluster/merge-conditions.ts";
import { type DeclaredObject, FINALIZER, KEY_LABEL, type SecretObject } from "../cluster/port.ts";
import { readIfAllowed } from "../cluster/secret-reading.ts";
import type { ControllerDeps } from "../context/deps.ts";
import { declaredStatus, unclaimedStatus } from "../context/object-status.ts";
import { AT_REST, type ReconcileResult } from "../context/reconcile-result.ts";
import { writeStatus } from "../context/status-write.ts";

/**
 * Brings a gateway into the store with its providers' credentials, which are stored encrypted.
 *
 * @param moved called as soon as the change is committed: what refers to the gateway has to be looked at
 */
export async function reconcileGateway(
  deps: ControllerDeps,
  object: DeclaredObject<"ModelGateway">,
  moved: () => void,
): Promise<ReconcileResult> {
  const { cluster, store, fence } = deps;
  if (object.deleting) {
    await change(store, fence, (tx) => releaseGateway(tx, cluster.uid, object.uid));
    moved();
    await cluster.removeFinalizer(object);
    return AT_REST;
  }
  if (!object.finalizers.includes(FINALIZER)) await cluster.addFinalizer(object);
  const team = await findTeamOfNamespace(store.db, cluster.uid, object.namespace);
  if (team === undefined) {
    await writeStatus(deps, object, unclaimedStatus(object, deps.clock.now()));
    return AT_REST;
  }
  const reference = { cluster: cluster.uid, namespace: object.namespace, name: object.name, teamId: team.id };
  const before = await findActiveObject(store.db, "gateway", reference);
  const publicId =
    object.spec.publicID ??
    (await findPublicIdOfPlace(store.db, reference)) ??
    // By the team's name: a restored database may have lost the team, whose id is another then.
    generatedPublicId(object.uid, `${cluster.uid}/${team.name}`);
  const read = await readUpstreams(deps, object);
  if ("why" in read) {
    // What is served stays as it is: the right was withdrawn, not the credential.
    const unreadable = condition(
      "ResolvedRefs",
      "False",
      "SecretUnreadable",
      `No credential can be read: ${read.why}. The gateway goes on as it was.`,
    );
    await writeStatus(deps, object, { ...object.status, ...declaredStatus(object, [unreadable], deps.clock.now()) });
    return AT_REST;
  }
  const { upstreams, missing } = read;
  const without = upstreams.filter(({ credential }) => credential === false).map(({ name }) => name);
  const draft = {
    ...reference,
    ownerUid: object.uid,
    publicId,
    routesOnly: object.spec.routesOnly,
    operations: object.spec.operations,
    upstreams,
    routes: object.spec.routes.map(({ routeID, ...route }) => ({ ...route, routeId: routeID })),
  };
  const saved = await save(deps, draft, moved);
  if (saved !== undefined && before?.id !== saved.gatewayId) moved();
  const refusing = saved === undefined ? undefined : await refusingUpstreams(deps, object, saved.gatewayId);
  const now = deps.clock.now();
  const { conditions = [], ...status } = declaredStatus(
    object,
    [publicIdAccepted(publicId, saved === undefined), gatewayCredentials(missing, without)],
    now,
  );
  await writeStatus(deps, object, {
    ...status,
    // No part of Ready: the gateway is as declared, and the provider has its own reasons.
    conditions: refusing
      ? [...conditions, ...mergeConditions(object, [credentialsAccepted(refusing)], now)]
      : conditions,
    ...(saved === undefined ? {} : { gatewayID: saved.gatewayId, publicID: publicId }),
    team: team.name,
  });
  return AT_REST;
}

/**
 * Saves a gateway; undefined if the public id is another's. What the declaration had in service is released then: a team
 * that no longer holds the namespace may declare its public id elsewhere, or has done so (threats b447).
 */
async function save(
  deps: ControllerDeps,
  draft: GatewayDraft,
  moved: () => void,
): Promise<{ gatewayId: string } | undefined> {
  try {
    return (await change(deps.store, deps.fence, (tx) => saveGateway(tx, draft, deps.keyring))).result;
  } catch (error) {
    if (!(error instanceof PublicIdTakenError)) throw error;
    const released = await change(deps.store, deps.fence, (tx) => releaseGateway(tx, draft.cluster, draft.ownerUid));
    if (released.result) moved();
    return undefined;
  }
}

/**
 * Returns the upstreams with their credentials: null for a missing or unusable one, with which nothing is
 * forwarded, and false for an upstream that names none. A key of a PlatformKey's own Secret is none (threats b422). If
 * we have no right to read a credential, returns why.
 */
async function readUpstreams(
  deps: ControllerDeps,
  object: DeclaredObject<"ModelGateway">,
): Promise<{ upstreams: GatewayDraft["upstreams"]; missing: MissingCredential[] } | { why: string }> {
  const missing: MissingCredential[] = [];
  const upstreams: GatewayDraft["upstreams"][number][] = [];
  for (const { name, dialect, baseURL, credentialRef } of object.spec.upstreams) {
    const baseUrl = baseURL.replace(/\/+$/, "");
    if (credentialRef === undefined) {
      upstreams.push({ name, dialect, baseUrl, credential: false });
      continue;
    }
    const read = await readIfAllowed(deps.cluster, object.namespace, credentialRef.name);
    if ("why" in read) return read;
    const text = read.secret?.data[credentialRef.key]?.trim() ?? "";
    const writtenBy = writingKey(read.secret);
    const credential = isSendableCredential(text) && writtenBy === undefined ? text : null;
    const { name: secret, key } = credentialRef;
    if (credential === null) {
      const isUnusable = text !== "";
      missing.push({ upstream: name, secret, key, isUnusable, ...(writtenBy !== undefined && { writtenBy }) });
    }
    upstreams.push({ name, dialect, baseUrl, credential });
  }
  return { upstreams, missing };
}

/** Returns the name of the PlatformKey that writes a Secret; undefined for a Secret of another owner. */
function writingKey(secret: SecretObject | undefined): string | undefined {
  if (secret === undefined) return undefined;
  const { name, owner, labels } = secret;
  // The Secret of a key that leaves it behind names no owner, and has the label alone.
  const isOfKey = owner !== null || labels[KEY_LABEL] !== undefined;
  return isOfKey ? owner?.name || labels[KEY_LABEL] || name : undefined;
}

/** Returns the upstreams that refuse their credentials, or ask for one, as calls have shown to any server. */
async function refusingUpstreams(
  { store }: ControllerDeps,
  { spec }: DeclaredObject<"ModelGateway">,
  gatewayId: string,
): Promise<RefusingUpstream[]> {
  const states = await upstreamStates(store.db, [gatewayId]);
  const names = new Set(states.filter(({ refusesCredential }) => refusesCredential).map(({ upstream }) => upstream));
  return spec.upstreams
    .filter(({ name }) => names.has(name))
    .map(({ name, dialect, credentialRef: ref }) => ({
      upstream: name,
      dialect,
      credential: ref && { secret: ref.name, key: ref.key },
    }));
}
