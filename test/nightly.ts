/**
 * `npm run nightly`: every suite, and every test at its full length, one after the other. `--part 2/4` runs the second of
 * four parts that take about as long as each other. It goes on after a failure, and ends with what has failed.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** What is run, and how many minutes that takes on two cores. */
type Step = { readonly name: string; readonly minutes: number; readonly command: readonly [string, ...string[]] };

const vitest = (name: string, minutes: number, ...args: string[]): Step => ({
  name,
  minutes,
  command: ["vitest", "run", ...args],
});

/** What measures rates, or what others feel of a load, has nothing beside it. */
const ALONE = "--maxWorkers=1";

const STEPS: readonly Step[] = [
  vitest("npm test", 40, "--project", "npm", "--project", "npm-together"),
  vitest("test:journeys", 8, "--project", "journeys"),
  vitest("rankings of the search", 8, "--project", "night", "test/memory"),
  vitest("test:faults", 45, "--project", "faults"),
  vitest("test:cluster", 30, "--project", "cluster"),
  vitest("test:browser", 10, "--project", "browser"),
  vitest("test:system", 15, "--project", "system"),
  vitest("test:pulumi", 8, "--project", "pulumi"),
  vitest("test:providers", 2, "--project", "providers"),
  vitest("languages and plugin of Pulumi", 6, "--project", "night", "test/infra"),
  vitest("upgrade of what runs", 4, "--project", "night", "test/faults"),
  // Most of it is the build of Istio, once.
  vitest("Istio", 15, "--project", "night", "test/server"),
  vitest("chaos", 25, "--project", "chaos"),
  vitest("limits, budgets and a hostile tenant", 35, "--project", "night", "test/chaos", ALONE),
  { name: "test:postgres15", minutes: 4, command: ["npm", "run", "test:postgres15"] },
  { name: "e2e", minutes: 30, command: ["npm", "run", "e2e"] },
];

/** The steps of a part: the longest first, each to the part that has the least to do so far. */
export function stepsOf(part: number, parts: number, steps = STEPS): Step[] {
  const shares = Array.from({ length: parts }, (): Step[] => []);
  const minutes = (share: readonly Step[]) => share.reduce((sum, step) => sum + step.minutes, 0);
  for (const step of steps.toSorted((one, other) => other.minutes - one.minutes)) {
    shares.toSorted((one, other) => minutes(one) - minutes(other))[0]?.push(step);
  }
  return shares[part - 1] ?? [];
}

function main(args: readonly string[]): number {
  const [part, parts] = /^--part[= ](\d+)\/(\d+)$/.exec(args.join(" "))?.slice(1).map(Number) ?? [];
  const isWhole = args.length === 0;
  if (!isWhole && (part === undefined || parts === undefined || part < 1 || part > parts)) {
    console.error("usage: npm run nightly, or npm run nightly -- --part 2/4");
    return 2;
  }
  const failed: string[] = [];
  for (const { name, command } of isWhole ? STEPS : stepsOf(part ?? 1, parts ?? 1)) {
    const [program, ...rest] = command;
    const since = performance.now();
    console.log(`\n== ${name}: ${command.join(" ")}`);
    const { status } = spawnSync(program, rest, {
      cwd: ROOT,
      stdio: "inherit",
      env: { ...process.env, KEYPLANE_NIGHTLY: "1" },
    });
    const minutes = ((performance.now() - since) / 60_000).toFixed(1);
    console.log(`== ${name}: ${status === 0 ? "passed" : "FAILED"} after ${minutes} minutes`);
    if (status !== 0) failed.push(name);
  }
  console.log(failed.length === 0 ? "\nAll has passed." : `\nFAILED: ${failed.join(", ")}`);
  return failed.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2));
