import type { Environment } from "../../domain/environment.ts";
import { type AddCommand, required } from "../command.ts";
import { ENCRYPTION_KEY, setting } from "../config.ts";
import { assertDataFolder } from "../data-folder.ts";
import { checkKubernetes, type KubernetesFlags } from "./cluster.ts";
import { CHECKS } from "./embedded.ts";
import type { Finding } from "./finding.ts";

export const addDoctor: AddCommand = (program, { env, out, exit }) => {
  program
    .command("doctor")
    .description("find out what is wrong with an installation, and what to do about it")
    .setting("--data <dir>", "of keyplane up: its data folder")
    .setting("--database-url <url>", "on Kubernetes, instead of --data: the PostgreSQL database")
    .setting("--kubeconfig <file>", "on Kubernetes: how to reach the cluster")
    .setting("--controller-namespace <name>", "on Kubernetes: where the controllers run", "keyplane-system")
    .setting(
      "--encryption-key-file <file>",
      "on Kubernetes: the encryption keys, to see whether they are the database's",
    )
    .option("--after-restore", "on Kubernetes: also what a restored cluster or database has left to be decided")
    .setting("--namespaces <names>", "with --after-restore: the namespaces that the controller serves", "all")
    .variable(...ENCRYPTION_KEY)
    .example("keyplane doctor --data .keyplane", "look at keyplane up, running or not")
    .example("keyplane doctor --database-url postgres://db/keyplane", "look at an installation on Kubernetes")
    .example(
      "keyplane doctor --database-url postgres://db/keyplane --after-restore",
      "and at what a restored cluster or database has left to be decided",
    )
    .action(async (flags: DoctorFlags) => {
      const isOnKubernetes = flags.afterRestore === true || (flags.data === undefined && hasDatabase(flags, env));
      const findings = isOnKubernetes
        ? await checkKubernetes(flags, env)
        : await checkData(required(env, "data", flags.data), env);
      exit(tell(findings, out));
    });
};

type DoctorFlags = KubernetesFlags & { readonly data?: string };

function hasDatabase({ databaseUrl }: DoctorFlags, env: Environment): boolean {
  const folder = setting(env, "data", undefined);
  return databaseUrl !== undefined || (folder === undefined && setting(env, "database-url", undefined) !== undefined);
}

/** @throws UsageError where there is no such folder */
async function checkData(data: string, env: Environment): Promise<Finding[]> {
  await assertDataFolder(data);
  const findings: Finding[] = [];
  for (const check of CHECKS) findings.push(...(await check(data, env)));
  return findings;
}

/**
 * One line for each finding, `ok`, `note` or `WRONG`.
 *
 * @returns the exit code: 1 where something is wrong
 */
function tell(findings: readonly Finding[], out: (line: string) => void): number {
  for (const { is, message } of findings) out(`${is.padEnd(5)}  ${message}`);
  const wrong = findings.filter(({ is }) => is === "WRONG").length;
  out(wrong === 0 ? "nothing is wrong" : `${wrong} ${wrong === 1 ? "thing is" : "things are"} wrong`);
  return wrong === 0 ? 0 : 1;
}
