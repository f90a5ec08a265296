/** Result of checking a resource's inputs by the rules of admission (domain/manifest). */
import { createHash } from "node:crypto";
import { checkName, checkNamespace, isRecord } from "../../../domain/manifest/document/identity.ts";
import { suggestion } from "../../../domain/manifest/document/suggestion.ts";
import type { FieldDiagnostic } from "../../../domain/manifest/validation/check-spec.ts";
import { toFieldDiagnostic } from "../../../domain/manifest/validation/check-spec.ts";
import { isCredential } from "../../../domain/provider-credential.ts";
import { containsKey } from "../../../domain/redact.ts";
import { parseWebhookSecrets } from "../../../domain/webhook/webhook.ts";
import schema from "../schema.json" with { type: "json" };
import { credentialsOf, mapEntries } from "./credentials.ts";
import { type Inputs, type ResourceKind, specOf } from "./resources.ts";
import { diagnosticsOf } from "./spec.ts";
import { hasUnknown, type Revealed, revealAll, Secret, secretsIn, UNKNOWN, type Value, type Values } from "./values.ts";

type Checked = { readonly inputs: Values; readonly diagnostics: readonly FieldDiagnostic[] };

/** Longest name that the API accepts. */
const MAX_NAME_LENGTH = 63;

/**
 * Checks the inputs of a resource, and fills in its name, which stays if its URN changes, as by aliases. No message
 * holds a secret value.
 *
 * @param resource the resource's name in the program
 * @param olds its inputs in the state; empty if the object does not exist yet
 */
export function checkInputs(
  kind: ResourceKind,
  { urn, resource, news, olds }: { urn: string; resource: string; news: Values; olds: Values },
): Checked {
  const isNew = Object.keys(olds).length === 0;
  const inputs: Values = { ...news, name: news.name ?? olds.name ?? autoName(urn, resource), ...sealed(kind, news) };
  const given = revealAll(inputs);
  const diagnostics = [
    ...unknownProperties(kind, given),
    ...identityFaults(kind, given),
    ...specFaults(kind, given),
    ...(kind.kind === "PlatformKey" ? keyFaults(given) : []),
    ...credentialFaults(kind, given, isNew),
  ];
  const secrets = secretsIn(inputs);
  return {
    inputs,
    diagnostics: diagnostics.map(({ path, message }) => ({ path, message: withoutSecrets(message, secrets) })),
  };
}

/**
 * Returns the name of an object whose program gives none. It is derived from the URN without randomness: a killed `up`
 * that is repeated asks for the same object.
 */
function autoName(urn: string, resource: string): string {
  const suffix = createHash("sha256").update(urn).digest("hex").slice(0, 7);
  const stem = resource
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return `${stem.slice(0, MAX_NAME_LENGTH - 8).replace(/-+$/, "") || "unnamed"}-${suffix}`;
}

/** Marks credentials and signing secrets as secret, even if the program does not. */
function sealed({ kind }: ResourceKind, inputs: Values): Values {
  const credentials = credentialsOf(kind);
  const entries = credentials && inputs[credentials.list];
  if (credentials === undefined || !Array.isArray(entries)) return {};
  const { list, field } = credentials;
  const seal = (entry: Values): Values => {
    const given = entry[field];
    return given === undefined || given instanceof Secret ? entry : { ...entry, [field]: new Secret(given) };
  };
  return { [list]: entries.map((entry: Value) => (entry instanceof Secret ? entry : mapEntries(entry, seal))) };
}

function unknownProperties({ type }: ResourceKind, given: Inputs): FieldDiagnostic[] {
  const known = Object.keys(schema.resources[type].inputProperties);
  return Object.keys(given)
    .filter((path) => !known.includes(path))
    .map((path) => ({ path, message: `unknown property: ${suggestion(path, known)}` }));
}

function identityFaults({ identity }: ResourceKind, given: Inputs): FieldDiagnostic[] {
  const { name, namespace = "", team } = given;
  const names = name === UNKNOWN ? [] : checkName(name, MAX_NAME_LENGTH, ["name"]);
  const namespaces = namespace === "" || namespace === UNKNOWN ? [] : checkNamespace(namespace, ["namespace"]);
  const diagnostics = [...names, ...namespaces].map(toFieldDiagnostic);
  if (!identity.includes("team") || team === UNKNOWN || (typeof team === "string" && team !== "")) return diagnostics;
  return [...diagnostics, { path: "team", message: "is missing: write the team's name" }];
}

function specFaults(kind: ResourceKind, given: Inputs): FieldDiagnostic[] {
  const spec = { ...specOf(kind, given), ...rotationOf(kind, given) };
  const name = typeof given.name === "string" ? given.name : "";
  const diagnostics = diagnosticsOf(kind.kind, name, withoutUnknown(spec)).map(({ path, message }) => ({
    path: path
      .replace(/^rotation\.overlap\..*/, "rotation.overlap")
      .replace(/\.credentialRef$/, ".credential")
      .replace(/\.secretRef$/, ".secret"),
    message,
  }));
  return hasUnknown(spec) ? diagnostics.filter(({ path }) => isCertain(spec, path)) : diagnostics;
}

/** Returns the rotation of a key in the form of the declarations' schema. */
function rotationOf({ kind }: ResourceKind, { rotation }: Inputs): Inputs {
  if (kind !== "PlatformKey" || rotation === undefined || rotation === null) return {};
  if (!isRecord(rotation)) return { rotation };
  const { overlap, ...fields } = rotation as Inputs;
  return { rotation: { ...fields, ...(overlap !== undefined && { overlap: { mode: "Fixed", duration: overlap } }) } };
}

function withoutUnknown(value: Inputs): Record<string, unknown> {
  const known = Object.entries(value).filter(([, field]) => field !== UNKNOWN);
  return Object.fromEntries(known.map(([name, field]) => [name, knownPart(field)]));
}

function knownPart(value: Revealed): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== UNKNOWN).map(knownPart);
  return isRecord(value) ? withoutUnknown(value as Inputs) : value;
}

/** True if a fault stands whatever becomes known later: it is about a value that is given and completely known. */
function isCertain(spec: Inputs, path: string): boolean {
  const [top = ""] = path.split(/[.[]/);
  const value = spec[top];
  return value !== undefined && !hasUnknown(value) && path !== top;
}

function keyFaults({ deliver, state, reason }: Inputs): FieldDiagnostic[] {
  const diagnostics: FieldDiagnostic[] = [];
  if (deliver !== undefined && deliver !== UNKNOWN && deliver !== "secret" && deliver !== "none") {
    diagnostics.push({ path: "deliver", message: 'must be "secret" or "none"' });
  }
  if (state === "Revoked") {
    diagnostics.push({ path: "state", message: "a key is revoked with its resource: remove that from the program" });
  }
  if (typeof reason === "string" && containsKey(reason)) {
    diagnostics.push({ path: "reason", message: "holds what looks like a key: write it without, it is kept" });
  }
  return diagnostics;
}

function credentialFaults({ kind }: ResourceKind, given: Inputs, isNew: boolean): FieldDiagnostic[] {
  const credentials = credentialsOf(kind);
  if (credentials === undefined) return [];
  const { list, field, noun, none } = credentials;
  const entries: Revealed | undefined = given[list];
  return (Array.isArray(entries) ? entries : []).flatMap((entry, i): FieldDiagnostic[] => {
    if (!isRecord(entry)) return [];
    const value = entry[field];
    const path = `${list}[${i}].${field}`;
    const isWithout = none === undefined ? undefined : entry[none];
    if (isWithout === UNKNOWN) return [];
    const excess = withoutFault(isWithout, value !== undefined && field);
    if (excess !== undefined) return [{ path: `${list}[${i}].${none}`, message: excess }];
    if (isWithout === true) return [];
    const instead = none === undefined ? "" : `, or ${none}: true for an upstream that takes none`;
    if (value === undefined) return isNew ? [{ path, message: `is missing: write ${noun}${instead}` }] : [];
    if (value === UNKNOWN) return [];
    const isGood = typeof value === "string" && (field === "secret" ? isSigningSecret(value) : isCredential(value));
    return isGood ? [] : [{ path, message: `must be ${field === "secret" ? SIGNING_SECRET : CREDENTIAL}` }];
  });
}

/** @param given name of the field of the secret, if there is one */
function withoutFault(isWithout: unknown, given: string | false): string | undefined {
  if (isWithout !== undefined && typeof isWithout !== "boolean") return "must be true or false";
  return isWithout === true && given !== false ? `excludes ${given}: remove one of them` : undefined;
}

const CREDENTIAL = "visible ASCII without spaces";
const SIGNING_SECRET = "whsec_ and 24 to 64 random bytes in base64, or two of these with a space between";
const isSigningSecret = (text: string) => parseWebhookSecrets(text) !== undefined;

/** Replaces the secrets in a text. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== "")
    .reduce((clean, secret) => clean.replaceAll(secret, "[secret]"), text);
}
