/** Outputs of a resource, which a program sees. */
import { defined } from "../../../domain/defined.ts";
import schema from "../schema.json" with { type: "json" };
import type { ApiObject } from "./api/api-object.ts";
import { credentialsOf, mapEntries } from "./credentials.ts";
import type { KeySecrets } from "./key-secret.ts";
import type { ResourceKind } from "./resources.ts";
import { markedAs, Secret, UNKNOWN, type Values } from "./values.ts";

/**
 * Returns all outputs: the inputs except credentials, and what is known of the object. `teamName` is for the provider
 * alone: a program may name its team by its id, and by its name again.
 */
export function outputsOf(kind: ResourceKind, inputs: Values, object: ApiObject, secrets: KeySecrets = {}): Values {
  const known = defined({ ...shown(kind, object), teamName: object.team });
  return { ...echo(kind, inputs), ...markedAs(inputs, known), ...secretOutputs(secrets) };
}

function secretOutputs(secrets: KeySecrets): Values {
  return Object.fromEntries(Object.entries(secrets).map(([name, text]) => [name, new Secret(text)]));
}

/** Returns the outputs of an object beyond its inputs. */
export function shown({ kind }: ResourceKind, object: ApiObject): Values {
  const { name, teamId = "" } = object;
  switch (kind) {
    case "PlatformKey":
      return { name, teamId, ...shownOfKey(object) };
    case "ModelGateway":
      return { name, teamId, publicID: object.publicID ?? "", missingCredentials: object.missingCredentials };
    case "MemoryLibrary":
      return { name, teamId };
    case "PlatformTeam":
      return { name, missingSecrets: object.missingCredentials };
  }
}

function shownOfKey({ id, versions, scopes, expiresAt, revocation }: ApiObject): Values {
  const current = versions.find(({ state }) => state === "active") ?? versions[0];
  return defined({
    keyID: id,
    prefix: current?.prefix ?? "",
    effectiveScopes: scopes,
    versions: versions.map(defined),
    expiresTime: expiresAt,
    revocation: revocation && defined(revocation),
  });
}

/** Returns inputs as outputs, without credentials and signing secrets. */
function echo({ kind }: ResourceKind, inputs: Values): Values {
  const credentials = credentialsOf(kind);
  const entries = credentials && inputs[credentials.list];
  if (credentials === undefined || entries === undefined) return inputs;
  const without = ({ [credentials.field]: _, ...rest }: Values) => rest;
  return { ...inputs, [credentials.list]: mapEntries(entries, without) };
}

/** Returns the outputs in a preview of an object to be made. Outputs that the server answers are not known yet. */
export function previewCreate(kind: ResourceKind, inputs: Values): Values {
  const answered = schema.resources[kind.type].required.filter((name) => !SECRETS.includes(name));
  const delivers = kind.kind === "PlatformKey" && inputs.deliver !== "none";
  return {
    ...Object.fromEntries(answered.map((name) => [name, UNKNOWN])),
    ...echo(kind, inputs),
    ...(delivers && { secret: new Secret(UNKNOWN) }),
  };
}

/** Returns the outputs in a preview of an object to be changed. @param newVersion true if a key gets another secret */
export function previewUpdate(kind: ResourceKind, olds: Values, inputs: Values, newVersion: boolean): Values {
  const { inputProperties, required }: Described = schema.resources[kind.type];
  const delivers = inputs.deliver !== "none";
  const kept = Object.entries(olds).filter(
    ([name]) => (!(name in inputProperties) || required.includes(name)) && (delivers || !SECRETS.includes(name)),
  );
  const changing = kind.kind !== "PlatformKey" ? [] : newVersion ? OF_THE_VERSION : OF_THE_SPEC;
  return {
    ...Object.fromEntries(kept),
    ...Object.fromEntries(changing.map((name) => [name, UNKNOWN])),
    ...echo(kind, inputs),
    ...(newVersion && delivers && Object.fromEntries(SECRETS.map((name) => [name, new Secret(UNKNOWN)]))),
  };
}

type Described = { readonly inputProperties: object; readonly required: readonly string[] };

const SECRETS = ["secret", "previousSecret"];
const OF_THE_SPEC = ["effectiveScopes", "expiresTime"];
const OF_THE_VERSION = [...OF_THE_SPEC, "prefix", "versions"];
