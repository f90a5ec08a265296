/**
 * A hostile tenant does everything at once, within the rights of its own keys, while other tenants work and their keys
 * are revoked: for 40 seconds on servers with PostgreSQL, and 30 on the embedded default; ten minutes each with
 * `npm run nightly`.
 */
import { expect, test } from "vitest";
import { NIGHTLY } from "../env/nightly.ts";
import { openServers, openUp } from "./hostile/installation.ts";
import { runHostileTenant } from "./hostile/run.ts";

const NIGHTLY_MS = 600_000;
const ATOMS = NIGHTLY ? 100_000 : 20_000;
const REST_MS = 8_000;
/** What an end may take besides: calls that are under way, and the start of everything. */
const ALLOWANCE_MS = 400_000;

const FORMS = [
  { name: "two servers on PostgreSQL", open: openServers, attackMs: NIGHTLY ? NIGHTLY_MS : 40_000 },
  { name: "the embedded default", open: openUp, attackMs: NIGHTLY ? NIGHTLY_MS : 30_000 },
];

for (const { name, open, attackMs } of FORMS) {
  test(`a hostile tenant costs no other a call, and prolongs no revoked key, on ${name}`, {
    timeout: attackMs + ALLOWANCE_MS,
  }, async () => {
    const result = await runHostileTenant({
      open,
      atoms: ATOMS,
      restMs: REST_MS,
      attackMs,
      out: console.log,
    });
    expect(result.violations).toEqual([]);
    expect(result.revocations).toBeGreaterThan(10);
    expect(result.heldBack).toBeGreaterThan(8);
  });
}
