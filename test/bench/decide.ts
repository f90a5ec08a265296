import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { figure, table } from "./table.ts";

/** What `decide-process.ts` prints. Times are nanoseconds of CPU for one call, medians over the rounds. */
export type DecideFigures = {
  readonly keys: number;
  /** Of heap and beside it: the tables, the records, and all that only they hold. */
  readonly bytesPerKey: number;
  readonly buildMs: number;
  readonly cases: readonly { readonly what: string; readonly decided: number; readonly floor: number }[];
};

const SIZES = [1_000, 1_000_000];
const PROCESS = join(import.meta.dirname, "decide-process.ts");

/** Measures the decision on a small and a large index; each in a process of its own. */
export async function benchDecide(): Promise<string> {
  const runs: DecideFigures[] = [];
  for (const size of SIZES) {
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", PROCESS, String(size)]);
    // What the process prints is ours.
    runs.push(JSON.parse(stdout) as DecideFigures);
  }
  const calls = runs.flatMap(({ keys, cases }) =>
    cases.map(({ what, decided, floor }) => [
      `${figure(keys)} keys: ${what}`,
      figure(decided),
      figure(floor),
      figure(decided / floor, 2),
    ]),
  );
  const indexes = runs.map(({ keys, bytesPerKey, buildMs }) => [figure(keys), figure(bytesPerKey), figure(buildMs)]);
  return [
    table(["decide, from raw headers and URL to the verdict", "ns", "floor ns", "ratio"], calls),
    table(["index of keys", "bytes per key", "build ms"], indexes),
  ].join("\n\n");
}
