/** The commands of `keyplane`. Exit codes (spec §8): 0 done, 1 the work failed, 2 wrong use. */
import { Command, CommanderError } from "commander";
import { DataLockedError } from "../controller/cluster/files/lock.ts";
import { stopSignal } from "../runtime/stop-signal.ts";
import { ConfigError } from "../server/config.ts";
import type { AddCommand, Process } from "./command.ts";
import { environment } from "./config.ts";
import { addController } from "./controller.ts";
import { describeError } from "./describe-error.ts";
import { addDoctor } from "./doctor/doctor.ts";
import { addForgetEncryptionKey } from "./forget-encryption-key.ts";
import { addGet } from "./get.ts";
import { addMigrate } from "./migrate.ts";
import { addPlan } from "./plan/plan.ts";
import { addRevoke } from "./revoke.ts";
import { addRotate } from "./rotate.ts";
import { addServer } from "./serve.ts";
import { addUp } from "./up.ts";
import { UsageError } from "./usage-error.ts";
import { addValidate } from "./validate.ts";
import { packageVersion } from "./version.ts";

const COMMANDS: readonly AddCommand[] = [
  addUp,
  addServer,
  addController,
  addMigrate,
  addValidate,
  addPlan,
  addGet,
  addRevoke,
  addRotate,
  addDoctor,
  addForgetEncryptionKey,
];

/** Runs one command to its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  let code = 0;
  let stop: AbortSignal | undefined;
  const program = new Command("keyplane")
    .description("Declarative API keys for an AI platform")
    .version(packageVersion())
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  const env = environment();
  const out = (line: string) => void process.stdout.write(`${line}\n`);
  const context: Process = {
    env,
    out,
    exit: (failed) => {
      code = failed;
    },
    stopSignal: () => (stop ??= stopSignal(env, out)),
  };
  for (const add of COMMANDS) add(program, context);
  try {
    await program.parseAsync([...args], { from: "user" });
    if (stop?.aborted) out("stopped");
    return code;
  } catch (error) {
    if (stop?.aborted && error === stop.reason) {
      out("stopped");
      return 0;
    }
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(`keyplane: ${describeError(error)}\n`);
    const wrongUse = [UsageError, ConfigError, DataLockedError].some((kind) => error instanceof kind);
    return wrongUse ? 2 : 1;
  }
}
