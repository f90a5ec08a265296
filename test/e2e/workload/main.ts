/**
 * `npm run e2e`: one suite after the other, each on a node of its own; or those that can on the cluster that
 * KEYPLANE_E2E_KUBECONFIG names. Arguments that begin with `test/` name suites, by their folder too.
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProgramMissingError } from "../../env/go/go-program.ts";
import { findHelm } from "../../env/helm.ts";
import { findImageRoot, IMAGE_ROOT_VARIABLE } from "../../env/image-root.ts";
import { findBinaries, KubernetesMissingError } from "../../env/kubernetes/binaries.ts";
import { runInNamespaces, whyImpossible } from "../../env/node/namespaces.ts";
import { findNodePrograms, NodeMissingError } from "../../env/node/programs.ts";
import { findPromtool } from "../../env/promtool.ts";
import { filesOf } from "../../projects.ts";
import { KUBECONFIG_VARIABLE } from "./cluster.ts";

const ROOT = join(import.meta.dirname, "../../..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");
/** Each of its tests goes on from where the one before it has ended. */
const OPTIONS = ["--root", ROOT, "--project", "e2e", "--bail", "1", "--disable-console-intercept=true"];
const WALK = "test/e2e/chart/walk.e2e.night.test.ts";
/** Those that take any cluster. */
const ANYWHERE = [
  "test/e2e/workload/workload.e2e.night.test.ts",
  "test/e2e/installation/installation.e2e.night.test.ts",
];
const SUITES = globSync(filesOf("e2e").include, { cwd: ROOT }).sort();

/** The command that runs a suite. */
const commandOf = (suite: string, options: readonly string[]): readonly [string, ...string[]] => [
  process.execPath,
  ...[VITEST, "run", ...OPTIONS, ...options, suite],
];

async function main(args: readonly string[]): Promise<number> {
  const names = args.filter((arg) => arg.startsWith("test/"));
  const options = args.filter((arg) => !names.includes(arg));
  const unknown = names.find((name) => !SUITES.some((suite) => suite.startsWith(name)));
  if (unknown !== undefined) {
    console.error(`${unknown} is no suite: there are ${SUITES.join(", ")}, and more with KEYPLANE_NIGHTLY=1`);
    return 1;
  }
  const named = SUITES.filter((suite) => names.some((name) => suite.startsWith(name)));
  const chosen = named.length > 0 ? named : SUITES;
  if (process.env[KUBECONFIG_VARIABLE]) {
    const anywhere = chosen.filter((suite) => ANYWHERE.includes(suite));
    if (anywhere.length === 0) {
      console.error("none of these suites runs on another cluster: with KEYPLANE_NIGHTLY=1 there are some that do");
      return 1;
    }
    return sequentially(anywhere, async (suite) => {
      const [command, ...rest] = commandOf(suite, options);
      return spawnSync(command, rest, { stdio: "inherit" }).status ?? 1;
    });
  }
  try {
    const reason = await whyImpossible();
    if (reason !== undefined) throw new NodeMissingError(reason);
    // Before, since the namespaces have no way out to where they are downloaded from; nor to a database that listens elsewhere.
    await findBinaries();
    await findNodePrograms();
    await findHelm();
    if (chosen.includes(WALK)) await findPromtool();
    const folder = await mkdtemp(join(tmpdir(), "keyplane-e2e-"));
    try {
      const env = { ...process.env, DATABASE_URL: "", [IMAGE_ROOT_VARIABLE]: await findImageRoot(folder) };
      const run = (suite: string) => runInNamespaces(commandOf(suite, options), env);
      return await sequentially(chosen, run);
    } finally {
      await rm(folder, { recursive: true });
    }
  } catch (error) {
    const isMissing = [NodeMissingError, KubernetesMissingError, ProgramMissingError].some(
      (kind) => error instanceof kind,
    );
    if (!isMissing || !(error instanceof Error)) throw error;
    console.error(`no suite can run: ${error.message}; or name a cluster in ${KUBECONFIG_VARIABLE}`);
    return 1;
  }
}

/** Runs suites, each whatever became of those before it. @returns the highest of their exit codes */
async function sequentially(suites: readonly string[], run: (suite: string) => Promise<number>): Promise<number> {
  let highest = 0;
  for (const suite of suites) highest = Math.max(highest, await run(suite));
  return highest;
}

process.exitCode = await main(process.argv.slice(2));
