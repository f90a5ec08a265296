/**
 * Property values as the engine sends them (pulumi: proto/pulumi, developer-docs on property values): JSON in which
 * secrets and unknown values are marked.
 */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../domain/manifest/document/identity.ts";

const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";
const RESOURCE = "5cf8f73096256a8f31e491e813e4eb8e";
const UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Value that is encrypted in the state, and shown nowhere. */
export class Secret {
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

/** Value in a preview that is known only after the update. */
export const UNKNOWN = Symbol("known after the update");

export type Value = null | boolean | number | string | typeof UNKNOWN | Secret | readonly Value[] | Values;
export type Values = { readonly [property: string]: Value };

/** Value without its marks. An unknown value is {@link UNKNOWN}. */
export type Revealed =
  | null
  | boolean
  | number
  | string
  | typeof UNKNOWN
  | readonly Revealed[]
  | { readonly [property: string]: Revealed };

/**
 * Reads properties from the engine's JSON. A property that is null counts as not given.
 *
 * @throws TypeError for assets and archives, which no property of Keyplane has
 */
export function readValues(json: unknown): Values {
  const fields = isRecord(json) ? Object.entries(json) : [];
  return Object.fromEntries(fields.filter(([, value]) => value !== null).map(([name, value]) => [name, read(value)]));
}

function read(json: unknown): Value {
  if (json === UNKNOWN_TEXT) return UNKNOWN;
  if (Array.isArray(json)) return json.map(read);
  if (isRecord(json)) {
    if (json[SIGNATURE] === SECRET) return new Secret(read(json.value));
    if (json[SIGNATURE] !== undefined) throw new TypeError("assets and archives are no values of Keyplane's");
    return readValues(json);
  }
  if (json === null || ["boolean", "number", "string"].includes(typeof json)) return json as Value;
  throw new TypeError(`a value of type ${typeof json} cannot be sent`);
}

/** Writes properties as the engine's JSON. */
export function writeValues(values: Values): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, write(value)]));
}

function write(value: Value): unknown {
  if (value === UNKNOWN) return UNKNOWN_TEXT;
  if (value instanceof Secret) return { [SIGNATURE]: SECRET, value: write(value.value) };
  if (isList(value)) return value.map(write);
  return isRecord(value) ? writeValues(value as Values) : value;
}

/** Returns a reference to a resource as a value. @param id empty before it is made, in a preview */
export function referTo({ urn, id }: { readonly urn: string; readonly id: string }): Values {
  return { [SIGNATURE]: RESOURCE, urn, id: id === "" ? UNKNOWN : id };
}

/** Returns the value without marks of secrecy. */
export function reveal(value: Value): Revealed {
  if (value instanceof Secret) return reveal(value.value);
  if (isList(value)) return value.map(reveal);
  return isRecord(value) ? revealAll(value as Values) : (value as Revealed);
}

export function revealAll(values: Values): { readonly [property: string]: Revealed } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, reveal(value)]));
}

/** Returns all texts within a value that are marked as secret. */
export function secretsIn(value: Value, within = false): string[] {
  if (value instanceof Secret) return secretsIn(value.value, true);
  if (typeof value === "string") return within ? [value] : [];
  if (isList(value)) return value.flatMap((item) => secretsIn(item, within));
  return isRecord(value) ? Object.values(value as Values).flatMap((item) => secretsIn(item, within)) : [];
}

/** True if a part of the value is marked as secret. */
export function hasSecret(value: Value): boolean {
  if (value instanceof Secret) return true;
  if (isList(value)) return value.some(hasSecret);
  return isRecord(value) && Object.values(value as Values).some(hasSecret);
}

/**
 * Returns values with the marks that values of the same names had before: a secret stays a secret, even if it has
 * changed.
 */
export function markedAs(before: Values, now: Values): Values {
  return Object.fromEntries(
    Object.entries(now).map(([name, value]) => {
      const was = before[name];
      if (was === undefined || !hasSecret(was) || hasSecret(value)) return [name, value];
      return [name, isDeepStrictEqual(reveal(was), reveal(value)) ? was : new Secret(value)];
    }),
  );
}

/** True if a part of the value is known only after the update. */
export function hasUnknown(value: Revealed): boolean {
  if (value === UNKNOWN) return true;
  if (isList(value)) return value.some(hasUnknown);
  return isRecord(value) && Object.values(value).some((item) => hasUnknown(item as Revealed));
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}
