/** What every file is read into: atoms to import, each with its place in the file. */
import { hash } from "node:crypto";
import { UsageError } from "../command/usage-error.ts";

/** What one atom has to do with another. */
export type Link = { readonly rel: string; readonly id: string };

/** An atom as a server imports it. What is in its fields is the server's to judge. */
export type ImportItem = {
  /** Where it stands, for a person. */
  readonly where: string;
  readonly atom: Readonly<Record<string, unknown>>;
};

/** What cannot be imported, and why. */
export type LeftOut = { readonly what: string; readonly why: string };

export type Reading = {
  readonly items: readonly ImportItem[];
  readonly leftOut: readonly LeftOut[];
  /** Links and relations that lead to nothing which is read with them. */
  readonly strayLinks: number;
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether it is a UUID as an atom has it: no other has that, wherever it comes from. */
export function isUuid(id: unknown): id is string {
  return typeof id === "string" && UUID.test(id);
}

/** By what an atom that comes from elsewhere is known again: its source, and what it is called there. */
export function idFor(source: string, name: string): string {
  return hash("sha256", JSON.stringify([source.normalize("NFC"), name.normalize("NFC")]), "hex");
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The refusal of a whole file. */
export function notImported(where: string, why: string): UsageError {
  return new UsageError(`${where} ${why}: nothing was imported`);
}

/** The oldest first: most links lead to what is older, and that is there already then. */
export function oldestFirst(items: readonly ImportItem[]): ImportItem[] {
  const timeOf = ({ atom: { created } }: ImportItem) => (typeof created === "string" ? Date.parse(created) : 0) || 0;
  return items.toSorted((one, other) => timeOf(one) - timeOf(other));
}
