/**
 * `npm run chaos -- --seed N --minutes M`: a random run of users and faults on the real components. The seed chooses
 * every move and every fault, and when; what it cannot choose is which process leads, what the secrets are, and how the
 * processes, the network and the clock interleave, so that a run played again is like the first and not the same.
 */
import { parseArgs } from "node:util";
import { runChaos } from "./run.ts";
import { RIGHTS } from "./world.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string", default: "5" },
    keys: { type: "string", default: "200" },
    allowance: { type: "string", default: "15" },
    rights: { type: "string", default: RIGHTS[0] },
    restore: { type: "boolean", default: true },
  },
  allowNegative: true,
});
const [seed, minutes, keys, allowance] = [values.seed, values.minutes, values.keys, values.allowance].map(Number);
const rights = RIGHTS.find((one) => one === values.rights);
if (
  rights === undefined ||
  !Number.isInteger(seed) ||
  !Number(minutes) ||
  !Number.isInteger(keys) ||
  !Number.isInteger(allowance)
) {
  console.error(
    "use: npm run chaos -- [--seed 1] [--minutes 5] [--keys 200] [--allowance 15] [--rights cluster-wide|namespaced] [--no-restore]",
  );
  process.exit(2);
}
const { faults, minted, violations } = await runChaos({
  seed: Number(seed),
  minutes: Number(minutes),
  keys: Number(keys),
  allowance: Number(allowance) * 1_000,
  rights,
  restore: values.restore,
  out: console.log,
});
console.log(`faults injected: ${faults}`);
console.log(`keys minted: ${minted}`);
console.log(`violations: ${violations}`);
process.exit(violations === 0 ? 0 : 1);
