/**
 * An installation as its users have it: the chart on a node, with three servers and two controllers, PostgreSQL and a
 * model server; people at kubectl and at the console, the vendors' SDKs and an MCP client; and faults of threats.md.
 * KEYPLANE_E2E_MINUTES of that, by KEYPLANE_E2E_SEED, and then all is judged. By day chaos has the same promises with
 * processes, and `chart.e2e.test.ts` has pods.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createReport } from "../../oracle/report.ts";
import { runInstallation } from "./run.ts";
import { openSite, type Site } from "./site.ts";

const MINUTES = Number(process.env.KEYPLANE_E2E_MINUTES ?? 15);
const SEED = Number(process.env.KEYPLANE_E2E_SEED ?? randomBytes(3).readUIntBE(0, 3));

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

it("an installation loses nothing, and lets no caller in who should not be, whatever its users do and whatever breaks", {
  timeout: MINUTES * 60_000 + 900_000,
}, async () => {
  console.log(`KEYPLANE_E2E_SEED=${SEED} KEYPLANE_E2E_MINUTES=${MINUTES}`);
  const report = createReport(SEED, console.log);
  const { amounts, page } = await runInstallation(site, { seed: SEED, minutes: MINUTES }, report);
  console.log(`\n${page}\n`);
  const violations = report.violations.map(({ rule, subject, what }) => `${rule}: ${subject}: ${what}`);
  expect(violations, violations.join("\n")).toEqual([]);
  expect(Object.entries(amounts).filter(([, amount]) => amount === 0)).toEqual([]);
});
