/** Time for which the folder of manifests has been unchanged, and a check that it comes to rest at all. */
import { nameSome } from "../../../../domain/name-some.ts";
import type { FolderReading } from "./folder.ts";
import { SETTLE_MS } from "./removal.ts";

/** Milliseconds that it may be in motion, at every look and at so many of them, before that is reported. */
export const RESTLESS_MS = 30_000;
const RESTLESS_LOOKS = 10;

export type QuietPeriod = {
  /** Milliseconds since the last change of content that was seen. */
  readonly unchangedForMs: number;
  /** Names that have kept the folder in motion for so long that it is to be reported; empty if it comes to rest. */
  readonly restless: readonly string[];
};

type Motion = {
  readonly since: number;
  looks: number;
  /** Number of looks at which each file was seen in motion. */
  readonly counts: Map<string, number>;
  /** Names as they are reported, from the first report on. */
  restless: readonly string[];
};

/** Makes a function that takes each reading of the folder, and returns how long it has been unchanged. */
export function createQuietPeriod(clock: {
  monotonic(): number;
}): (reading: Pick<FolderReading, "changed" | "pending">) => QuietPeriod {
  let changedAt = clock.monotonic();
  let motion: Motion | undefined;

  return ({ changed, pending }) => {
    const now = clock.monotonic();
    if (changed.length > 0) changedAt = now;
    const unchangedForMs = now - changedAt;
    if (pending.length === 0 && unchangedForMs >= SETTLE_MS) {
      motion = undefined;
      return { unchangedForMs, restless: [] };
    }
    motion ??= { since: now, looks: 0, counts: new Map(), restless: [] };
    motion.looks++;
    for (const name of new Set([...changed, ...pending])) motion.counts.set(name, (motion.counts.get(name) ?? 0) + 1);
    const isRestless = now - motion.since >= RESTLESS_MS && motion.looks >= RESTLESS_LOOKS;
    if (isRestless && motion.restless.length === 0) motion.restless = mostFrequent(motion.counts);
    return { unchangedForMs, restless: motion.restless };
  };
}

/** Returns the names that were seen in motion at least half as often as the most frequent. */
function mostFrequent(counts: ReadonlyMap<string, number>): string[] {
  const most = Math.max(...counts.values());
  return [...counts].flatMap(([name, count]) => (count * 2 >= most ? [name] : [])).sort();
}

const MAX_NAMES = 3;

/** Returns the first of the files as the subject of a sentence, with its verb. */
export function listNames(names: readonly string[]): string {
  const titles = names.map((name) => (name === "" ? "a folder" : name));
  return `${nameSome(titles, MAX_NAMES)} ${names.length === 1 ? "changes" : "change"}`;
}
