/**
 * A minute of chaos with controllers of the whole cluster, with a seed that plays every move and every fault, and an end
 * that waits as long as it takes. With `npm run nightly` a quarter of an hour, and as long with controllers of some
 * namespaces, each with another seed each time, and at last with a database that is put back: by day resync.test.ts and
 * test/store have that. `npm run chaos` plays a seed again.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { NIGHTLY } from "../env/nightly.ts";
import { FAULTS } from "./faults.ts";
import { MOVES } from "./moves.ts";
import { scheduleFaults, scheduleMoves } from "./schedule.ts";
import { RIGHTS } from "./world.ts";

const MAIN = join(import.meta.dirname, "main.ts");
const [MINUTES, KEYS, ALLOWANCE] = NIGHTLY ? [15, 150, 15] : [1, 20, 240];
const SEED = 51263;

test("the seed has every move made and every fault strike", () => {
  const names = (scheduled: readonly { readonly name: string }[]) => [...new Set(scheduled.map(({ name }) => name))];
  expect(names(scheduleMoves(SEED, MINUTES * 60_000)).toSorted()).toEqual(Object.keys(MOVES).toSorted());
  expect(names(scheduleFaults(SEED, MINUTES * 60_000)).toSorted()).toEqual(Object.keys(FAULTS).toSorted());
});

// Beside each other: each waits for the most part.
test.concurrent.for(NIGHTLY ? RIGHTS : RIGHTS.slice(0, 1))(
  "whatever users do and whatever breaks, every promise holds with %s controllers",
  { timeout: MINUTES * 60_000 + 1_800_000 },
  async (rights, { expect, onTestFinished }) => {
    const seed = NIGHTLY ? Math.floor(Math.random() * 1_000_000) : SEED;
    const numbers = ["--seed", seed, "--minutes", MINUTES, "--keys", KEYS, "--allowance", ALLOWANCE];
    const options = [...numbers.map(String), "--rights", rights, ...(NIGHTLY ? [] : ["--no-restore"])];
    console.log(`npm run chaos -- ${options.join(" ")}`);
    const child = spawn(process.execPath, [MAIN, ...options], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGTERM"));
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) lines.push(line);
    const [code] = child.exitCode === null ? await once(child, "exit") : [child.exitCode];
    expect(code, lines.join("\n")).toBe(0);
    expect(lines.slice(-3)).toEqual([
      expect.stringMatching(/^faults injected: [1-9]\d*$/),
      expect.stringMatching(/^keys minted: [1-9]\d*$/),
      "violations: 0",
    ]);
  },
);
