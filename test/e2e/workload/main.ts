/** `npm run e2e`: the workload suite on a node of its own, or on the cluster that KEYPLANE_E2E_KUBECONFIG names. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { findBinaries, KubernetesMissingError } from "../../env/kubernetes/binaries.ts";
import { runInNamespaces, whyImpossible } from "../../env/node/namespaces.ts";
import { findNodePrograms, NodeMissingError } from "../../env/node/programs.ts";
import { KUBECONFIG_VARIABLE } from "./cluster.ts";

const ROOT = join(import.meta.dirname, "../../..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");
/** Each of its tests goes on from where the one before it has ended. */
const OPTIONS = ["--root", ROOT, "--project", "e2e", "--bail", "1"];
const suite = [process.execPath, VITEST, "run", ...OPTIONS, ...process.argv.slice(2)];

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
    console.error(`the workload suite cannot run: ${error.message}; or name a cluster in ${KUBECONFIG_VARIABLE}`);
    return 1;
  }
}

process.exitCode = await main();
