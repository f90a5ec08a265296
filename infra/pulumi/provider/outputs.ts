/** What a program sees of a resource. */
import { defined } from "../../../domain/defined.ts";
import schema from "../schema.json" with { type: "json" };
import type { ApiObject } from "./api/api-object.ts";
import { credentialsOf, mapEntries } from "./credentials.ts";
import type { KeySecrets } from "./key-secret.ts";
import type { ResourceKind } from "./resources.ts";
import { markedAs, Secret, UNKNOWN, type Values } from "./values.ts";

/** All outputs: what went in, but for credentials, and what is known of the object. */
export function outputsOf(kind: ResourceKind, inputs: Values, object: ApiObject, secrets: KeySecrets = {}): Values {
  return { ...echo(kind, inputs), ...markedAs(inputs, shown(kind, object)), ...secretOutputs(secrets) };
}

function secretOutputs(secrets: KeySecrets): Values {
  return Object.fromEntries(Object.entries(secrets).map(([name, text]) => [name, new Secret(text)]));
}

/** What an object has besides what was asked for. */
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

/** Inputs as outputs, without what goes in and never comes out. */
function echo({ kind }: ResourceKind, inputs: Values): Values {
  const credentials = credentialsOf(kind);
  const entries = credentials && inputs[credentials.list];
  if (credentials === undefined || entries === undefined) return inputs;
  const without = ({ [credentials.field]: _, ...rest }: Values) => rest;
  return { ...inputs, [credentials.list]: mapEntries(entries, without) };
}

/** What a preview can say of an object that is to be made: what is always answered is not known yet. */
export function previewCreate(kind: ResourceKind, inputs: Values): Values {
  const answered = schema.resources[kind.type].required.filter((name) => !SECRETS.includes(name));
  const delivers = kind.kind === "PlatformKey" && inputs.deliver !== "none";
  return {
    ...Object.fromEntries(answered.map((name) => [name, UNKNOWN])),
    ...echo(kind, inputs),
    ...(delivers && { secret: new Secret(UNKNOWN) }),
  };
}

/** What a preview can say of one that is to be changed. @param newVersion whether a key gets another secret */
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
