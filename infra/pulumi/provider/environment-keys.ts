/** The keys of an `EnvironmentKeys` of a program in any language, whose values may be secret, or not known yet. */
import { PRESETS, type Preset, SCOPES } from "../../../domain/access/scopes.ts";
import { defined } from "../../../domain/defined.ts";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import { suggestion } from "../../../domain/manifest/document/suggestion.ts";
import {
  defaultScopes,
  ENVIRONMENTS,
  type Environment,
  environmentKey,
  type ForEach,
  forEachEnvironment,
  keyName,
  refuseUnknownArguments,
  refuseUnknownEnvironments,
  refuseUnknownProperties,
} from "../environments.ts";
import { checkInputs } from "./check.ts";
import { RESOURCES } from "./resources.ts";
import { hasSecret, hasUnknown, type Revealed, reveal, Secret, UNKNOWN, type Value, type Values } from "./values.ts";

/**
 * The inputs of each environment's key. What depends on a value that is not known yet is not known either.
 *
 * @param name the component's
 * @throws RangeError where a key would be left without a scope, or an argument is unknown
 */
export function keysOf(name: string, args: Values): ForEach<Values> {
  refuseUnknownArguments(args);
  const environments = fieldsOf("environments", args.environments);
  if (environments === UNKNOWN) return forEachEnvironment(() => unknownKey(args));
  refuseUnknownEnvironments(environments);
  return forEachEnvironment((environment) => {
    const special = fieldsOf(`environments.${environment}`, environments[environment]);
    return special === UNKNOWN ? unknownKey(args) : keyOf(name, environment, args, special);
  });
}

/**
 * Refuses what the keys would be refused for one by one: the engine has a component whose part is refused end as a broken
 * connection.
 *
 * @throws RangeError for the first fault; without what is secret
 */
export function refuseFaults(name: string, keys: ForEach<Values>): void {
  const kind = RESOURCES.get("keyplane:index:PlatformKey");
  if (kind === undefined) return;
  for (const environment of ENVIRONMENTS) {
    const resource = keyName(name, environment);
    const [fault] = checkInputs(kind, { urn: resource, resource, news: keys[environment], isNew: true }).diagnostics;
    if (fault !== undefined) throw new RangeError(`${resource}: ${fault.path}: ${fault.message}`);
  }
}

/** Of what a key's input is made, besides the argument of its name. */
export function decidersOf(property: string): readonly string[] {
  return ["scopes", ...BY_SCOPES].includes(property) ? ["environments", "scopes", "preset"] : ["environments"];
}

/** What a key has only with the scopes for it. */
const BY_SCOPES = ["gatewayRef", "libraryAccess"];

/** A key of which it is not known yet what is special about it. */
function unknownKey({ team }: Values): Values {
  const unknown = ["displayName", "scopes", ...BY_SCOPES, "expiresAfter", "rotation"];
  return { ...(team !== undefined && { team }), ...Object.fromEntries(unknown.map((property) => [property, UNKNOWN])) };
}

function keyOf(name: string, environment: Environment, args: Values, ofEnvironment: Values): Values {
  refuseUnknownProperties(environment, ofEnvironment);
  const { team, gatewayRef, libraryAccess } = args;
  const { scopes: own, ...special } = ofEnvironment;
  const decided = scopesOf(environment, args, own);
  const scopes = hasUnknown(reveal(decided)) ? undefined : textsOf(decided);
  const key = environmentKey<string, Value | undefined, Value, Value, Values>(
    { name, environment, scopes: scopes ?? [...SCOPES] },
    { team, gatewayRef, libraryAccess, special },
  );
  const open = scopes ? [] : BY_SCOPES.filter((property) => property in key && !(property in special));
  return {
    ...defined(key),
    scopes: decided,
    ...Object.fromEntries(open.map((property) => [property, UNKNOWN])),
  };
}

/** @param own what the environment says of them itself */
function scopesOf(environment: Environment, args: Values, own: Value | undefined): Value {
  const { scopes = [], preset = [] } = args;
  const given: Value = own ?? [scopes, preset];
  const mark = (value: Value) => (hasSecret(given) ? new Secret(value) : value);
  if (hasUnknown(reveal(given))) return mark(UNKNOWN);
  return mark(own === undefined ? defaultScopes(environment, needsOf(args)) : textsOf(own));
}

function needsOf({ scopes = [], preset }: Values): { scopes: string[]; preset?: Preset } {
  return { scopes: textsOf(scopes), ...(preset !== undefined && { preset: presetOf(reveal(preset)) }) };
}

function presetOf(value: Revealed): Preset {
  const presets = Object.keys(PRESETS);
  if (typeof value === "string" && presets.includes(value)) return value as Preset;
  throw new RangeError(`EnvironmentKeys: unknown preset: ${suggestion(String(value), presets)}`);
}

function textsOf(scopes: Value): string[] {
  const texts = reveal(scopes);
  if (Array.isArray(texts) && texts.every((text) => typeof text === "string")) return texts;
  throw new RangeError("EnvironmentKeys: scopes must be a list of texts");
}

/** The fields of an argument; of a secret each is one. */
function fieldsOf(argument: string, value: Value = {}): Values | typeof UNKNOWN {
  if (value === UNKNOWN) return UNKNOWN;
  if (value instanceof Secret) {
    const fields = fieldsOf(argument, value.value);
    if (fields === UNKNOWN) return UNKNOWN;
    return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, new Secret(field)]));
  }
  // A list and a text are none, and a record is one of values.
  if (isRecord(value)) return value as Values;
  throw new RangeError(`EnvironmentKeys: ${argument} must be an object`);
}
