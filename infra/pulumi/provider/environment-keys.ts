/** Keys of an `EnvironmentKeys` of a program in any language, whose values may be secret, or not known yet. */
import { PRESETS, type Preset, SCOPES } from "../../../domain/access/scopes.ts";
import { defined } from "../../../domain/defined.ts";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import { suggestion } from "../../../domain/manifest/document/suggestion.ts";
import {
  defaultScopes,
  ENVIRONMENTS,
  type Environment,
  environmentKey,
  environmentRotation,
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
 * Returns the inputs of each environment's key. An input that depends on an unknown value is unknown too.
 *
 * @param name the component's name
 * @throws RangeError if a key would be left without a scope, or an argument is unknown
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
 * Refuses faults in the keys before they are registered: if a part of a component is refused, the engine reports only a
 * broken connection.
 *
 * @throws RangeError for the first fault, without secrets
 */
export function refuseFaults(name: string, keys: ForEach<Values>): void {
  const kind = RESOURCES.get("keyplane:index:PlatformKey");
  if (kind === undefined) return;
  for (const environment of ENVIRONMENTS) {
    const resource = keyName(name, environment);
    const [fault] = checkInputs(kind, { urn: resource, resource, news: keys[environment], olds: {} }).diagnostics;
    if (fault !== undefined) throw new RangeError(`${resource}: ${fault.path}: ${fault.message}`);
  }
}

/** Returns the arguments that determine an input of a key, besides the argument of the same name. */
export function decidersOf(property: string): readonly string[] {
  return ["scopes", ...BY_SCOPES].includes(property) ? ["environments", "scopes", "preset"] : ["environments"];
}

/** Inputs that a key has only with the scopes for them. */
const BY_SCOPES = ["gatewayRef", "libraryAccess"];

/** Returns the inputs of a key whose special properties are not known yet. */
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
    ...(special.rotation !== undefined && { rotation: rotationOf(environment, special.rotation) }),
    scopes: decided,
    ...Object.fromEntries(open.map((property) => [property, UNKNOWN])),
  };
}

/** Returns the rotation of a key. What is no rotation is refused with the key's other faults. */
function rotationOf(environment: Environment, own: Value): Value {
  if (own instanceof Secret) return new Secret(rotationOf(environment, own.value));
  return isRecord(own) ? environmentRotation(environment, own as Values) : own;
}

/**
 * Returns the scopes of a key.
 *
 * @param own scopes that the environment itself names
 */
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

/** Returns the fields of an argument. If the argument is secret, each field is. */
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
