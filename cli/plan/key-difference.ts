import { isDeepStrictEqual } from "node:util";
import type { KeyPolicy } from "../../domain/key/stored-key.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";

/** How a plan shows a field of a policy, and what of it. Ids of references are names in a plan. */
const FIELDS: readonly (readonly [name: string, show: (policy: KeyPolicy) => string])[] = [
  ["name", ({ displayName }) => displayName],
  ["scopes", ({ scopes }) => list(scopes)],
  ["gateway", ({ boundGatewayId }) => (boundGatewayId === "" ? "one that is not there" : (boundGatewayId ?? "any"))],
  ["libraries", ({ libraryIds }) => (libraryIds === null ? "all" : list(libraryIds))],
  ["default library", ({ mcpDefaultLibraryId }) => mcpDefaultLibraryId ?? "none"],
  ["models", ({ allowedModels }) => (allowedModels === null ? "any" : list(allowedModels))],
  ["state", ({ suspended }) => (suspended ? "Suspended" : "Active")],
  ["expires", ({ expiresAt }) => (expiresAt === null ? "never" : rfc3339Millis(expiresAt))],
  [
    "rate",
    ({ rateLimit: rate }) => (rate === null ? "unlimited" : `${rate.requestsPerMinute}/min, burst ${rate.burst}`),
  ],
  ["concurrent", ({ concurrent }) => (concurrent === null ? "default" : String(concurrent))],
];

/** What of a policy changes, as `scopes: memory:read -> memory:read, memory:write`. */
export function policyDifferences(before: KeyPolicy, after: KeyPolicy): string[] {
  return FIELDS.flatMap(([name, show]) => {
    const [was, is] = [show(before), show(after)];
    return was === is ? [] : [`${name}: ${was} -> ${is}`];
  });
}

/** The fields of a spec that differ, by name. */
export function changedFields(before: object, after: object): string[] {
  const [was, is] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...was.keys(), ...is.keys()])].filter((name) => !isDeepStrictEqual(was.get(name), is.get(name)));
}

/** Sets: their order means nothing. */
function list(items: readonly string[]): string {
  return items.length === 0 ? "none" : items.toSorted().join(", ");
}
