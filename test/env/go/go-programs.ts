/**
 * A global setup: what Go builds for a project is there before its first test begins, whose time is not for minutes of
 * building. What cannot be built is asked for once more by the tests that take it, which say what is missing.
 */
import type { TestProject } from "vitest/node";
import { findActionlint } from "../actionlint.ts";
import { findGlua } from "../glua.ts";
import { findHelm } from "../helm.ts";
import { findBinaries } from "../kubernetes/binaries.ts";
import { findTofu } from "../opentofu/cli.ts";
import { findPromtool } from "../promtool.ts";
import { findPulumi, findPulumiSdks, findPulumiYaml } from "../pulumi/cli.ts";

const BUILT: Readonly<Record<string, readonly (() => Promise<unknown>)[]>> = {
  chaos: [findBinaries],
  cluster: [findBinaries, findHelm, findPromtool, findGlua, findActionlint],
  pulumi: [findPulumi, findPulumiYaml, findPulumiSdks, findTofu],
};

export default async function setup({ name }: TestProject): Promise<void> {
  for (const find of BUILT[name] ?? []) await find().catch(() => {});
}
