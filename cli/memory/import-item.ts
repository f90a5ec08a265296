/** Result of reading a file: atoms to import, each with its location in the file. */
import { hash } from "node:crypto";
import { UsageError } from "../command/usage-error.ts";

/** Link from one atom to another, with its relation. */
export type Link = { readonly rel: string; readonly id: string };

/** Atom as a server imports it. The server checks its fields. */
export type ImportItem = {
  /** Location in the file, for a person. */
  readonly where: string;
  readonly atom: Readonly<Record<string, unknown>>;
};

/** Part of a file that cannot be imported, and the reason. */
export type LeftOut = { readonly what: string; readonly why: string };

export type ImportReading = {
  readonly items: readonly ImportItem[];
  readonly leftOut: readonly LeftOut[];
  /** Number of links and relations whose target is not among what was read. */
  readonly strayLinks: number;
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for a UUID in the form of an atom's id. No two atoms share an id, wherever they come from. */
export function isUuid(id: unknown): id is string {
  return typeof id === "string" && UUID.test(id);
}

/**
 * Returns the id of an atom that comes from elsewhere, from its source and its name there. The same atom gets the same
 * id at the next import.
 */
export function idFor(source: string, name: string): string {
  return hash("sha256", JSON.stringify([source.normalize("NFC"), name.normalize("NFC")]), "hex");
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the error that refuses a whole file. */
export function notImported(where: string, why: string): UsageError {
  return new UsageError(`${where} ${why}: nothing was imported`);
}

/** Sorts the oldest first: most links lead to older atoms, which then exist already. */
export function oldestFirst(items: readonly ImportItem[]): ImportItem[] {
  const timeOf = ({ atom: { created } }: ImportItem) => (typeof created === "string" ? Date.parse(created) : 0) || 0;
  return items.toSorted((one, other) => timeOf(one) - timeOf(other));
}
