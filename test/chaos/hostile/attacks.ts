/** What the hostile tenant does, all at once, to each replica. Each is bounded in how many it is at a time, and in pace. */
import { costlyBody, costlySearch, largeAtom, refusal } from "./call-attacks.ts";
import { endlessBody, leaver, pipeline, slowReader, stalledSave, stalledUpload, unreadPages } from "./raw-attacks.ts";
import { type Once, pause, type Victim } from "./victim.ts";

type Attack = { readonly what: string; readonly atOnce: number; readonly pauseMs: number; readonly once: Once };

export const ATTACKS: readonly Attack[] = [
  { what: "endless bodies behind a refusal", atOnce: 60, pauseMs: 200, once: endlessBody },
  { what: "31 MiB of the costliest", atOnce: 2, pauseMs: 200, once: costlyBody },
  { what: "uploads stalled at the last MiB", atOnce: 200, pauseMs: 3_000, once: stalledUpload },
  { what: "saves stalled at the last byte", atOnce: 259, pauseMs: 3_000, once: stalledSave },
  { what: "2,000 POSTs in a pipeline", atOnce: 2, pauseMs: 500, once: pipeline(2_000) },
  { what: "1,000 POSTs in each of 20 pipelines", atOnce: 20, pauseMs: 2_000, once: pipeline(1_000) },
  { what: "the costliest search", atOnce: 30, pauseMs: 10, once: costlySearch },
  { what: "atoms of 60 kB", atOnce: 4, pauseMs: 50, once: largeAtom },
  { what: "nine kinds of refusals", atOnce: 9, pauseMs: 20, once: refusal },
  { what: "callers that leave in mid-body", atOnce: 300, pauseMs: 1_000, once: leaver },
  { what: "answers that are not read", atOnce: 20, pauseMs: 500, once: slowReader },
  { what: "pages that are not read", atOnce: 30, pauseMs: 500, once: unreadPages },
];

/** Whether a list of parts of names, separated by commas, names an attack; an empty one names each. */
export function isNamed(list: string, what: string): boolean {
  return list.split(",").some((part) => what.includes(part));
}

/** Runs one of them until the signal. */
export async function attack({ atOnce, pauseMs, once }: Attack, victim: Victim): Promise<void> {
  const { signal, count } = victim;
  const repeat = async (n: number) => {
    // Not all in one moment: a first wave of 600 connections is this process's own load.
    await pause(Math.random() * 1_000, signal);
    while (!signal.aborted) {
      await once(victim, n).catch((error: unknown) => count(nameOf(error)));
      await pause(pauseMs, signal);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, n) => repeat(n)));
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  return error.name === "TimeoutError" ? "given up" : "broken off";
}
