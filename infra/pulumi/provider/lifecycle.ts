/** Lifecycle of a resource: how it is made, changed and deleted through the management API. */
import { isDeepStrictEqual } from "node:util";
import { managedByOf } from "../../../domain/key/declaration/managed-by.ts";
import type { Api } from "./api/api.ts";
import {
  type ApiObject,
  assertGone,
  deleteObject,
  fetchObject,
  parseObject,
  readVersion,
  type Version,
} from "./api/api-object.ts";
import { createOrAdopt, isRevoked } from "./api/creation.ts";
import { OUTRUN, Refusal, type Subject, UnreachableError } from "./api/refusal.ts";
import { credentialsOf } from "./credentials.ts";
import {
  deliveredSecrets,
  knownSecrets,
  livingSecrets,
  type NewSecret,
  newSecret,
  nextSecret,
  overlapFor,
  versionReason,
} from "./key-secret.ts";
import { outputsOf } from "./outputs.ts";
import { type Inputs, type ResourceKind, specOf } from "./resources.ts";
import { isSameSpec } from "./spec.ts";
import { revealUpdate, type Update } from "./update.ts";
import { revealAll, Secret, type Values } from "./values.ts";

/** Resource that an operation is about. */
export type PulumiResource = {
  readonly api: Api;
  readonly kind: ResourceKind;
  readonly urn: string;
  readonly subject: Subject;
};

/** Ids in the state of this stack. */
type KnownIds = { has(id: string): boolean };

export type CreatedResource = { readonly id: string; readonly outputs: Values };

/**
 * Error of an operation whose first half is done and whose second is not. The result is recorded, and the next `up`
 * continues from it.
 */
export class HalfDoneError extends Error {
  readonly made: CreatedResource;
  /** Inputs that the next `up` compares its program with. */
  readonly inputs: Values;

  constructor(made: CreatedResource, inputs: Values, cause: unknown) {
    super("half done", { cause });
    this.made = made;
    this.inputs = inputs;
  }
}

/**
 * Makes an object, or adopts the object that a killed `up` has made for this URN. What another resource has or manages
 * cannot be such a leftover, nor can a key that is in use, which another stack of the same name has: it is refused, and
 * stays as it is. The exception is this resource's own key, if it is to be replaced.
 *
 * @param own URN of each id in the state of this stack
 * @throws Refusal, HalfDoneError
 */
export async function createResource(
  resource: PulumiResource,
  inputs: Values,
  own: ReadonlyMap<string, string>,
): Promise<CreatedResource & { adopted: boolean }> {
  const { api, kind, urn } = resource;
  const given = revealAll(inputs);
  const secret = kind.kind === "PlatformKey" ? newSecret() : undefined;
  const { team, namespace } = given;
  const body = {
    name: given.name,
    ...(kind.identity.includes("team") && { team, ...(namespace !== undefined && { namespace }) }),
    spec: specOf(kind, given),
    ...managerOf(resource),
    ...reasonOf(given),
    ...(secret && { source: secret.source }),
  };
  const { object: found, adopted } = await createOrAdopt(api, kind, { urn, inputs: given, body });
  const isSameRequest = secret !== undefined && livingSecrets([secret.text], found.versions).secret !== undefined;
  const isHeld = own.has(found.id) ? own.get(found.id) !== urn : found.isUsed;
  if (adopted && !isSameRequest && (isHeld || !isManagedSo(found, managerOf(resource)))) {
    throw new Refusal(409, { code: "in_use", id: found.id });
  }
  const object = adopted ? await ensureSpec(resource, found, given) : found;
  if (secret === undefined) return { id: object.id, outputs: outputsOf(kind, inputs, object), adopted };
  const outputs = await outputsWithSecret(resource, inputs, object, secret);
  return { id: object.id, adopted: adopted && !isSameRequest, outputs };
}

/** Gives an adopted key this secret, since its own is lost; its old versions end at once. */
async function outputsWithSecret(resource: PulumiResource, inputs: Values, object: ApiObject, secret: NewSecret) {
  const { kind } = resource;
  const outputs = (object: ApiObject) =>
    outputsOf(kind, inputs, object, deliveredSecrets(inputs, [secret.text], object));
  try {
    return outputs(await ensureVersion(resource, object, secret, { overlap: "0s", ...reasonOf(revealAll(inputs)) }));
  } catch (error) {
    const unfinished = { ...outputsOf(kind, inputs, object), versions: [], ...pendingOf(inputs, secret, error) };
    throw new HalfDoneError({ id: object.id, outputs: unfinished }, inputs, error);
  }
}

/** Ensures that the version in use has this secret. Repeated requests with one secret make one version. */
async function ensureVersion(
  { api, kind }: PulumiResource,
  object: ApiObject,
  { text, source }: NewSecret,
  request: { readonly overlap: string; readonly reason?: string },
): Promise<ApiObject> {
  if (livingSecrets([text], object.versions).secret !== undefined) return object;
  const headers = { "idempotency-key": `pulumi-version-${source.hash.sha256}` };
  const body = { source, ...request };
  return parseObject(await api.send("POST", `${kind.path}/${object.id}/versions`, body, headers));
}

/** Returns the secret to record if its version may have been made: the next `up` requests it again. */
function pendingOf({ deliver }: Values, { text }: NewSecret, error: unknown): Values {
  const isInDoubt =
    error instanceof UnreachableError || (error instanceof Refusal && (error.status >= 500 || error.mayBeDone));
  return isInDoubt && deliver !== "none" ? { pendingSecret: new Secret(text) } : {};
}

/** Ensures that an object has the spec that its program gives it. */
async function ensureSpec(resource: PulumiResource, object: ApiObject, given: Inputs): Promise<ApiObject> {
  const { api, kind } = resource;
  const spec = specOf(kind, given);
  const manager = managerOf(resource);
  const isAsGiven = (found: ApiObject) =>
    isSameSpec(kind.kind, found.name, found.spec, spec) && isManagedSo(found, manager);
  // Whether a credential is the one that is stored cannot be seen.
  if (!hasCredentials(kind, spec) && isAsGiven(object)) return object;
  const body = { spec, ...manager, ...reasonOf(given) };
  const put = async ({ id, etag }: ApiObject) =>
    parseObject(await api.send("PUT", `${kind.path}/${id}`, body, { "if-match": etag }));
  try {
    return await put(object);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "precondition_failed" || !error.mayBeDone) throw error;
    // Where the answer was lost, the tag that it is sent under again is another by then: what is as it was sent is ours.
    const found = await fetchObject(api, kind, object.id);
    if (found === undefined || isRevoked(found) || !isAsGiven(found)) throw error;
    return hasCredentials(kind, spec) ? await put(found) : found;
  }
}

/** Returns the note on a key which resource manages it: people are to change it there. */
function managerOf({ kind, urn }: PulumiResource): { readonly managedBy?: string } {
  return kind.kind === "PlatformKey" ? { managedBy: managedByOf(urn) } : {};
}

function isManagedSo(object: ApiObject, { managedBy }: ReturnType<typeof managerOf>): boolean {
  return managedBy === undefined || object.managedBy === managedBy;
}

function hasCredentials({ kind }: ResourceKind, spec: Inputs): boolean {
  const entries = spec[credentialsOf(kind)?.list ?? ""];
  return Array.isArray(entries) && entries.length > 0;
}

function reasonOf({ reason }: Inputs): { reason?: string } {
  return typeof reason === "string" ? { reason } : {};
}

/**
 * Changes an object to what its program says.
 *
 * @param now milliseconds since the epoch
 * @throws Refusal, HalfDoneError
 */
export async function updateResource(
  resource: PulumiResource,
  id: string,
  update: Update<Values>,
  now: number,
): Promise<Values> {
  const { api, kind } = resource;
  const { olds, oldInputs, news } = update;
  const revealed = revealUpdate(update);
  const found = await fetchObject(api, kind, id);
  if (found === undefined) await assertGone(api, revealed.olds.teamId);
  if (found === undefined || isRevoked(found)) throw new Refusal(404, { code: "gone" });
  const { olds: old, news: given } = revealed;
  const object = await replaceSpec(resource, found, revealed.oldInputs, given);
  if (kind.kind !== "PlatformKey") return outputsOf(kind, news, object);
  const reason = versionReason(revealed, now);
  if (reason === undefined) return outputsOf(kind, news, object, deliveredSecrets(news, knownSecrets(old), object));
  const secret = nextSecret(old, object.versions, reason);
  try {
    const overlap = overlapFor(reason, given);
    const renewed = await ensureVersion(resource, object, secret, { overlap, ...reasonOf(given) });
    return outputsOf(kind, news, renewed, deliveredSecrets(news, [secret.text, ...knownSecrets(old)], renewed));
  } catch (error) {
    const pending = pendingOf(news, secret, error);
    const isPending = pending.pendingSecret !== undefined;
    if (object === found && !isPending) throw error;
    const outputs: Values = {
      ...outputsOf(kind, news, object, deliveredSecrets(news, knownSecrets(old), object)),
      ...(olds.pendingSecret !== undefined && { pendingSecret: olds.pendingSecret }),
      ...pending,
      ...(reason === "SecretLost" && { versions: [] }),
    };
    const kept = isPending ? outputs : withRotationOf(outputs, olds);
    throw new HalfDoneError({ id, outputs: kept }, withRotationOf(news, oldInputs), error);
  }
}

/** Returns properties with the rotation of others: that of the newest version that was asked for. */
export function withRotationOf({ rotation: _, ...rest }: Values, { rotation }: Values): Values {
  return { ...rest, ...(rotation !== undefined && { rotation }) };
}

/**
 * Replaces the spec of an object.
 *
 * @throws Refusal if the object is neither what this stack last saw nor what it is to be
 */
async function replaceSpec(
  resource: PulumiResource,
  found: ApiObject,
  oldInputs: Inputs,
  given: Inputs,
): Promise<ApiObject> {
  const { kind } = resource;
  const [was, wanted] = [specOf(kind, oldInputs), specOf(kind, given)];
  const same = (spec: Inputs) => isSameSpec(kind.kind, found.name, found.spec, spec);
  const isLeft = isManagedSo(found, managerOf(resource)) || !same(wanted);
  if (isDeepStrictEqual(was, wanted) && found.missingCredentials.length === 0 && isLeft) return found;
  if (!same(was) && !same(wanted)) throw new Refusal(412, { code: "precondition_failed", detail: OUTRUN });
  return ensureSpec(resource, found, given);
}

/**
 * Deletes an object. An object that is gone already counts as deleted. A replacement of the same name is the same
 * object: if the stack keeps it, and this state is from before its newest version, it is not deleted.
 *
 * @param staying ids of objects that the stack keeps
 * @throws Refusal
 */
export async function deleteResource(
  { api, kind }: PulumiResource,
  id: string,
  olds: Values,
  staying: KnownIds,
): Promise<void> {
  try {
    if (kind.kind === "PlatformKey" && staying.has(id) && (await isOutlived(api, kind, id, olds))) return;
    await deleteObject(api, kind, id);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "not_found") throw error;
    await assertGone(api, revealAll(olds).teamId);
  }
}

async function isOutlived(api: Api, kind: ResourceKind, id: string, olds: Values): Promise<boolean> {
  const newest = (versions: readonly Version[]) => Math.max(0, ...versions.map(({ number }) => number));
  const object = await fetchObject(api, kind, id);
  const { versions } = revealAll(olds);
  return (
    object !== undefined && newest(object.versions) > newest(Array.isArray(versions) ? versions.map(readVersion) : [])
  );
}
