/**
 * Property values as the engine sends them (pulumi: proto/pulumi, developer-docs on property values): JSON in which
 * secrets and what is not known yet are marked.
 */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../domain/manifest/document/identity.ts";

const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";
const RESOURCE = "5cf8f73096256a8f31e491e813e4eb8e";
const UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** A value that is encrypted in the state, and shown nowhere. */
export class Secret {
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

/** A value that is known only after an update, in a preview. */
export const UNKNOWN = Symbol("known after the update");

export type Value = null | boolean | number | string | typeof UNKNOWN | Secret | readonly Value[] | Values;
export type Values = { readonly [property: string]: Value };

/** A value without its marks: what is not known yet is {@link UNKNOWN}. */
export type Revealed =
  | null
  | boolean
  | number
  | string
  | typeof UNKNOWN
  | readonly Revealed[]
  | { readonly [property: string]: Revealed };

/**
 * Reads properties off the wire. A property that is null is one that was not given.
 *
 * @throws TypeError for assets and the like, which no property of ours is
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

/** Properties as they go over the wire. */
export function writeValues(values: Values): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, write(value)]));
}

function write(value: Value): unknown {
  if (value === UNKNOWN) return UNKNOWN_TEXT;
  if (value instanceof Secret) return { [SIGNATURE]: SECRET, value: write(value.value) };
  if (isList(value)) return value.map(write);
  return isRecord(value) ? writeValues(value as Values) : value;
}

/** A resource as a value. @param id empty before it is made, in a preview */
export function referTo({ urn, id }: { readonly urn: string; readonly id: string }): Values {
  return { [SIGNATURE]: RESOURCE, urn, id: id === "" ? UNKNOWN : id };
}

/** The value itself, without marks of secrecy. */
export function reveal(value: Value): Revealed {
  if (value instanceof Secret) return reveal(value.value);
  if (isList(value)) return value.map(reveal);
  return isRecord(value) ? revealAll(value as Values) : (value as Revealed);
}

export function revealAll(values: Values): { readonly [property: string]: Revealed } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, reveal(value)]));
}

/** All texts within a value that are marked as secret. */
export function secretsIn(value: Value, within = false): string[] {
  if (value instanceof Secret) return secretsIn(value.value, true);
  if (typeof value === "string") return within ? [value] : [];
  if (isList(value)) return value.flatMap((item) => secretsIn(item, within));
  return isRecord(value) ? Object.values(value as Values).flatMap((item) => secretsIn(item, within)) : [];
}

/** Whether a part of it is marked as secret. */
export function hasSecret(value: Value): boolean {
  if (value instanceof Secret) return true;
  if (isList(value)) return value.some(hasSecret);
  return isRecord(value) && Object.values(value as Values).some(hasSecret);
}

/**
 * Values with the marks of what was there before by the same names: what was a secret stays one, be it another by now.
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

/** Whether a part of it is known only after the update. */
export function hasUnknown(value: Revealed): boolean {
  if (value === UNKNOWN) return true;
  if (isList(value)) return value.some(hasUnknown);
  return isRecord(value) && Object.values(value).some((item) => hasUnknown(item as Revealed));
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}
