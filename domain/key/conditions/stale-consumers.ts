/** Consumers that still use a version that is being replaced, or used it until its end (spec §5, StaleConsumers). */

import { condition, type StatedCondition } from "../../conditions.ts";
import { rfc3339 } from "../../rfc3339.ts";
import { DEFAULT_QUIET, type DeclaredKey, type Overlap } from "../declaration/declared-key.ts";
import { leastOverlapEnds, retiringVersions } from "../issuance/adoption.ts";
import type { ObservedKey } from "../observed/observed-key.ts";
import type { LastUse } from "../stored/known-usage.ts";
import type { StoredKey, StoredVersion } from "../stored/stored-key.ts";

/** Minimum milliseconds between two reports of a last use that moves on. */
const REPORTED_EVERY_MS = 10 * 60_000;
/** Milliseconds after a version's end at which its last use is settled: replicas write uses a little late. */
const LATE_USES = 30_000;

/** A use of an old version that is to be reported. */
type StaleUse = { readonly version: StoredVersion; readonly use: LastUse };

/** True if a decision or a report about a key depends on who uses which of its versions. */
export function dependsOnUsage({ overlap }: DeclaredKey, key: StoredKey): boolean {
  return (overlap.mode === "Adoption" && retiringVersions(key).length > 0) || endedInUse(overlap, key) !== undefined;
}

/** Returns the old version that holds up an overlap, or else the version that ended although it was in use. */
export function staleUse(observed: ObservedKey, key: StoredKey | undefined, now: number): StaleUse | undefined {
  if (key === undefined || key.state === "revoked") return undefined;
  const { overlap } = observed.declared;
  const holding = overlap.mode === "Adoption" ? holdingUp(observed, key, overlap, now) : undefined;
  if (holding !== undefined) return holding;
  const ended = endedInUse(overlap, key);
  if (ended === undefined) return undefined;
  const use = observed.usage?.lastUses.find(({ version }) => version === ended.number);
  return {
    version: ended,
    use: use ?? { version: ended.number, at: ended.lastUsedAt ?? 0, address: null, userAgent: null },
  };
}

export function staleConsumers(observed: ObservedKey, key: StoredKey | undefined, now: number): StatedCondition {
  const stale = staleUse(observed, key, now);
  if (stale === undefined) {
    return condition("StaleConsumers", "False", "NoStaleConsumers", "No consumer is known to use an old version.");
  }
  const { version, use } = stale;
  const name = `Version ${version.number} (${version.prefix}...)`;
  const used = `last at ${timeOf(use.at)} from ${use.address ?? "an unknown address"} with ${agentOf(use)}`;
  return version.state === "retiring"
    ? condition(
        "StaleConsumers",
        "True",
        "OldVersionInUse",
        `${name} is used, ${used}. It ends at ${timeOf(version.retireAt)}.`,
      )
    : condition(
        "StaleConsumers",
        "True",
        "EndedInUse",
        `${name} was used until it ended at ${timeOf(version.retireAt)}, ${used}.`,
      );
}

/** Returns when to look again for late-written uses of versions that have ended, in milliseconds since the epoch. */
export function lateUsesKnownAt({ overlap }: DeclaredKey, key: StoredKey): number[] {
  const soon = quietOf(overlap) + LATE_USES;
  return key.versions.flatMap(({ state, retireAt, lastUsedAt }) =>
    state === "retired" && retireAt !== null && lastUsedAt !== null && retireAt - lastUsedAt < soon
      ? [retireAt + LATE_USES]
      : [],
  );
}

/** Returns the oldest version that goes on beyond `min` because it has been used within `quiet`. */
function holdingUp(
  { usage, reportedUse }: ObservedKey,
  key: StoredKey,
  { min, quiet }: Overlap & { mode: "Adoption" },
  now: number,
): StaleUse | undefined {
  if (usage === null) return undefined;
  for (const version of retiringVersions(key).toReversed()) {
    const use = usage.lastUses.find((one) => one.version === version.number);
    if (use === undefined || now < leastOverlapEnds(version, key, min) || usage.now - use.at >= quiet) continue;
    const isReported = reportedUse?.version === use.version && Math.abs(use.at - reportedUse.at) < REPORTED_EVERY_MS;
    return { version, use: isReported ? reportedUse : use };
  }
  return undefined;
}

/**
 * Returns a version that had been used within `quiet` when its deadline came, until a later version has ended too. A
 * version that ended at once, without an overlap, has no deadline and is not reported.
 */
function endedInUse(overlap: Overlap, key: StoredKey): StoredVersion | undefined {
  const quiet = quietOf(overlap);
  const retired = key.versions.filter(({ state }) => state === "retired");
  return retired.find(
    ({ number, retireAt, lastUsedAt }) =>
      retireAt !== null &&
      lastUsedAt !== null &&
      retireAt - lastUsedAt < quiet &&
      !retired.some((other) => other.number > number && (other.retireAt ?? Number.POSITIVE_INFINITY) >= retireAt),
  );
}

/** Returns `quiet`, or its default for a fixed overlap: use of the old version until its deadline is reported too. */
function quietOf(overlap: Overlap): number {
  return overlap.mode === "Adoption" ? overlap.quiet : DEFAULT_QUIET;
}

function agentOf({ userAgent }: LastUse): string {
  return userAgent === null ? "no known User-Agent" : `User-Agent ${JSON.stringify(userAgent)}`;
}

/** Formats a time in whole seconds, the precision of uses in the status: read back, both are equal. */
function timeOf(ms: number | null): string {
  return ms === null ? "its deadline" : rfc3339(ms);
}
