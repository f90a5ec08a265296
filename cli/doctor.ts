import type { Environment } from "../domain/environment.ts";
import { type AddCommand, required } from "./command.ts";
import { assertDataFolder } from "./data-folder.ts";
import { type AfterRestoreFlags, checkAfterRestore } from "./doctor-after-restore.ts";
import { CHECKS } from "./doctor-checks.ts";
import type { Finding } from "./finding.ts";

export const addDoctor: AddCommand = (program, { env, out, exit }) => {
  program
    .command("doctor")
    .description("find out what is wrong with an installation of keyplane up, and what to do about it")
    .option("--data <dir>", "the data folder of keyplane up")
    .option("--after-restore", "instead, on Kubernetes: what a restored cluster or database has left to be decided")
    .option("--database-url <url>", "with --after-restore: the PostgreSQL database")
    .option("--kubeconfig <file>", "with --after-restore: how to reach the cluster")
    .option("--namespaces <names>", "with --after-restore: the namespaces that the controller serves (default all)")
    .action(async ({ afterRestore, ...flags }: DoctorFlags) => {
      const findings = afterRestore
        ? await checkAfterRestore(flags, env)
        : await checkData(required(env, "data", flags.data), env);
      exit(tell(findings, out));
    });
};

type DoctorFlags = AfterRestoreFlags & { readonly data?: string; readonly afterRestore?: true };

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
