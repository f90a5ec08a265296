/** Resource as the management API has it, with the inputs that a program would give for it. */
import { type ApiObject, assertGone, fetchObject } from "./api/api-object.ts";
import { isRevoked } from "./api/creation.ts";
import { Refusal } from "./api/refusal.ts";
import { credentialsOf } from "./credentials.ts";
import { deliveredSecrets, type KeySecrets, knownSecrets, versionWith } from "./key-secret.ts";
import { type CreatedResource, type PulumiResource, withRotationOf } from "./lifecycle.ts";
import { outputsOf } from "./outputs.ts";
import { type ResourceKind, specOf } from "./resources.ts";
import { isSameSpec, minimalSpec } from "./spec.ts";
import { markedAs, reveal, revealAll, type Value, type Values } from "./values.ts";

type ReadResource = CreatedResource & { readonly inputs: Values };

/**
 * Reads an object as it is now, for `refresh` and `import`.
 *
 * @param inputs the program's last inputs; empty at an import
 * @returns the object, or why it is gone: a revoked key can still be seen, and counts as gone
 * @throws Refusal for an object that a declaration governs, and for an object that this token does not see
 */
export async function readResource(
  { api, kind }: PulumiResource,
  id: string,
  olds: Values,
  inputs: Values,
): Promise<ReadResource | "absent" | "revoked"> {
  const object = await fetchObject(api, kind, id);
  if (object === undefined) {
    await assertGone(api, revealAll(olds).teamId);
    return "absent";
  }
  if (isRevoked(object)) return "revoked";
  if (object.declaredIn !== undefined) throw new Refusal(409, { code: "managed", detail: DECLARED });
  const now = inputsNow(kind, olds.pendingSecret === undefined ? inputs : withRotationOf(inputs, olds), object);
  const secrets = deliveredSecrets(now, knownSecrets(revealAll(olds)), object);
  return {
    id,
    outputs: { ...outputsOf(kind, now, object, secrets), ...unfinished(olds, secrets, object) },
    inputs: now,
  };
}

/** Returns the marks of a secret that the next `up` has to make or to send again, unless a version has it. */
function unfinished({ pendingSecret, versions }: Values, { secret }: KeySecrets, object: ApiObject): Values {
  const text = pendingSecret === undefined ? undefined : reveal(pendingSecret);
  const isMade = typeof text === "string" && versionWith(text, object.versions) !== undefined;
  const isPending = pendingSecret !== undefined && !isMade;
  const isLost = secret === undefined && Array.isArray(versions) && versions.length === 0;
  return { ...(isPending && { pendingSecret }), ...(isLost && { versions: [] }) };
}

const DECLARED =
  "A manifest declares it: change it there, or read it with one of the functions getKey, getTeam, getGateway.";

/**
 * Returns the inputs that describe an object. A field that still says the same stays as the program wrote it; of a
 * field that was not there before, a default is left out.
 */
function inputsNow(kind: ResourceKind, before: Values, object: ApiObject): Values {
  const { name, namespace, teamId } = object;
  const old = revealAll(before);
  // A program may write either of the two.
  const team = old.team === teamId ? teamId : object.team;
  const identity = { name, ...(team !== undefined && { team }), ...(namespace !== "" && { namespace }) };
  const spec = specOf(kind, old);
  const rest = Object.entries(before).filter(([property]) => !kind.specFields.includes(property));
  if (isSameSpec(kind.kind, name, object.spec, spec)) return { ...before, ...markedAs(before, identity) };
  const minimal = minimalSpec(kind.kind, name, object.spec);
  const fields = kind.specFields.flatMap((field): [string, Value][] => {
    const was = before[field];
    const value = minimal[field];
    const asBefore = { ...object.spec, [field]: spec[field] };
    if (was !== undefined && isSameSpec(kind.kind, name, asBefore, object.spec)) return [[field, was]];
    // What the API answers is JSON.
    return value === undefined ? [] : [[field, withCredentials(kind, value as Value, was)]];
  });
  return { ...Object.fromEntries(rest), ...markedAs(before, { ...identity, ...Object.fromEntries(fields) }) };
}

/** Returns entries with their known secrets, which the API never returns. */
function withCredentials({ kind }: ResourceKind, value: Value, before: Value | undefined): Value {
  const credentials = credentialsOf(kind);
  if (credentials === undefined || !Array.isArray(value) || !Array.isArray(before)) return value;
  const { id, field } = credentials;
  const fieldOf = (entry: Value, name: string) => (entry as Values | null)?.[name];
  return value.map((item: Value) => {
    const known = fieldOf(before.find((one) => fieldOf(one, id) === fieldOf(item, id)) ?? null, field);
    return known === undefined ? item : { ...(item as Values), [field]: known };
  });
}
