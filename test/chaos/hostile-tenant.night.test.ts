/**
 * A hostile tenant does everything at once, within the rights of its own keys, while other tenants work and their keys
 * are revoked: for twenty seconds on servers with PostgreSQL, and on the embedded default; five minutes each with
 * `npm run nightly`.
 */
import { expect, test } from "vitest";
import { NIGHTLY } from "../env/nightly.ts";
import { openServers, openUp } from "./hostile/installation.ts";
import { runHostileTenant } from "./hostile/run.ts";

const ATTACK_MS = NIGHTLY ? 300_000 : 20_000;
const ATOMS = NIGHTLY ? 100_000 : 20_000;
const REST_MS = 3_000;
/** What an end may take besides: calls that are under way, and the start of everything. */
const ALLOWANCE_MS = 400_000;

const FORMS = [
  { name: "two servers on PostgreSQL", open: openServers },
  { name: "the embedded default", open: openUp },
];

for (const { name, open } of FORMS) {
  test(`a hostile tenant costs no other a call, and prolongs no revoked key, on ${name}`, {
    timeout: ATTACK_MS + ALLOWANCE_MS,
  }, async () => {
    const result = await runHostileTenant({
      open,
      atoms: ATOMS,
      restMs: REST_MS,
      attackMs: ATTACK_MS,
      out: console.log,
    });
    expect(result.violations).toEqual([]);
    expect(result.revocations).toBeGreaterThan(10);
    expect(result.heldBack).toBeGreaterThan(8);
  });
}
