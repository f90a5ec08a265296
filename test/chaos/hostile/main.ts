/**
 * The run of the hostile tenant by hand: `node test/chaos/hostile/main.ts --form up --seconds 40 --only search`. What
 * `--only` and `--without` name, separated by commas, is any part of what an attack is called.
 */
import { parseArgs } from "node:util";
import { ATTACKS, isNamed } from "./attacks.ts";
import { openServers, openUp } from "./installation.ts";
import { runHostileTenant } from "./run.ts";

const { values } = parseArgs({
  options: {
    form: { type: "string", default: "servers" },
    seconds: { type: "string", default: "60" },
    rest: { type: "string", default: "8" },
    atoms: { type: "string", default: "20000" },
    only: { type: "string", default: "" },
    without: { type: "string" },
  },
});
const left = ATTACKS.map(({ what }) => what).filter(
  (what) => !isNamed(values.only, what) || (values.without !== undefined && isNamed(values.without, what)),
);
const { violations } = await runHostileTenant({
  open: values.form === "up" ? openUp : openServers,
  atoms: Number(values.atoms),
  restMs: Number(values.rest) * 1_000,
  attackMs: Number(values.seconds) * 1_000,
  without: left,
  out: console.log,
});
console.log(`violations: ${violations.length}`);
process.exit(violations.length === 0 ? 0 : 1);
