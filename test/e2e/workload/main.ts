/** `npm run e2e`: the workload suite on a node of its own, or on the cluster that KEYPLANE_E2E_KUBECONFIG names. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { findBinaries, KubernetesMissingError } from "../../env/kubernetes/binaries.ts";
import { runInNamespaces, whyImpossible } from "../../env/node/namespaces.ts";
import { findNodePrograms, NodeMissingError } from "../../env/node/programs.ts";
import { KUBECONFIG_VARIABLE } from "./cluster.ts";

const ROOT = join(import.meta.dirname, "../../..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");
const CONFIG = join(import.meta.dirname, "vitest.config.ts");
const suite = [process.execPath, VITEST, "run", "--root", ROOT, "--config", CONFIG, ...process.argv.slice(2)];

async function main(): Promise<number> {
  const [command = "", ...args] = suite;
  if (process.env[KUBECONFIG_VARIABLE]) return spawnSync(command, args, { stdio: "inherit" }).status ?? 1;
  try {
    const reason = await whyImpossible();
    if (reason !== undefined) throw new NodeMissingError(reason);
    // Before, since there is no way out of the namespaces to whoever has them; nor to a database that listens elsewhere.
    await findBinaries();
    await findNodePrograms();
    return await runInNamespaces(suite, { ...process.env, DATABASE_URL: "" });
  } catch (error) {
    if (!(error instanceof NodeMissingError || error instanceof KubernetesMissingError)) throw error;
    console.error(`the workload suite is skipped: ${error.message}; or name a cluster in ${KUBECONFIG_VARIABLE}`);
    return process.env.CI === "true" ? 1 : 0;
  }
}

process.exitCode = await main();
