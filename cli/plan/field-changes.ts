import { isDeepStrictEqual } from "node:util";
import type { KeyPolicy } from "../../domain/key/declaration/key-policy.ts";
import { policyDifferences } from "../../domain/key/fields/key-policies.ts";
import { printable, quote } from "../../domain/manifest/document/diagnostic.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import type { Labels } from "../../domain/manifest/document/labels.ts";
import { redactKeys } from "../../domain/redact.ts";

/** Field with its value before and after, as text without terminal control characters and without any key. */
export type FieldChange = { readonly field: string; readonly before: string; readonly after: string };

/**
 * Returns the fields of a key's policy that change, such as `scopes` from `memory:read` to `memory:read, memory:write`.
 * In a plan, ids are names.
 */
export function policyChanges(before: KeyPolicy, after: KeyPolicy): FieldChange[] {
  return policyDifferences(before, after).map((one) => ({
    field: one.label,
    before: shown(one.before),
    after: shown(one.after),
  }));
}

type Declaration = { readonly spec: object; readonly labels?: Labels | undefined };

/**
 * Returns the fields of a declaration that differ, down to single values, such as `spec.routes[fast].upstreamModel`.
 * Costs and policies go by labels.
 */
export function declaredChanges(before: Declaration, after: Declaration): FieldChange[] {
  return [
    ...differences("spec", before.spec, after.spec),
    ...differences("metadata.labels", before.labels ?? {}, after.labels ?? {}),
  ];
}

function* differences(field: string, before: unknown, after: unknown): Generator<FieldChange> {
  if (isDeepStrictEqual(before, after)) return;
  const [was, is] = [membersOf(before), membersOf(after)];
  if (was === undefined || is === undefined) {
    const [from, to] = [shownValue(before), shownValue(after)];
    yield { field, before: from, after: from === to ? "another, of which as much is shown" : to };
    return;
  }
  for (const member of new Set([...was.keys(), ...is.keys()])) {
    yield* differences(`${field}${member}`, was.get(member), is.get(member));
  }
}

/**
 * Returns the members of an object as `.name`, and those of a list whose items have names as `[name]`; undefined for a
 * value that is compared as a whole.
 */
function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (!Array.isArray(value)) {
    return isRecord(value) ? new Map(Object.entries(value).map(([name, inner]) => [`.${name}`, inner])) : undefined;
  }
  const named = value.map((item) => [`[${nameOf(item)}]`, item] as const);
  const members = new Map(named);
  return value.every((item) => nameOf(item) !== undefined) && members.size === value.length ? members : undefined;
}

/**
 * Returns the name of a list item, by the fields that identify items in the schemas (`x-kubernetes-list-map-keys`);
 * URLs do not count.
 */
function nameOf(item: unknown): string | undefined {
  if (!isRecord(item)) return undefined;
  const name = item.name ?? item.model;
  return typeof name === "string" ? shown(typeof item.kind === "string" ? `${item.kind} ${name}` : name) : undefined;
}

function shownValue(value: unknown): string {
  return value === undefined ? "none" : quote(withoutCredentials(value));
}

/** Shortens each URL to its scheme and host: the path may be a credential, as with many webhook receivers. */
function withoutCredentials(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCredentials);
  if (isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutCredentials(inner)]));
  }
  if (typeof value !== "string" || !/^https?:/i.test(value)) return value;
  const url = URL.parse(value);
  if (url === null) return "https://...";
  const isBare = url.pathname === "/" && url.search === "" && url.hash === "";
  return `${url.protocol}//${url.host}${isBare ? "" : "/..."}`;
}

function shown(text: string): string {
  return printable(redactKeys(text));
}
