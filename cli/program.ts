/** The commands of `keyplane`. Exit codes (spec §8): 0 done, 1 the work failed, 2 wrong use. */
import { CommanderError, type OutputConfiguration } from "commander";
import { DataLockedError } from "../controller/cluster/files/lock.ts";
import { KubeconfigError } from "../controller/cluster/kubernetes/kubeconfig-error.ts";
import { hasCode } from "../runtime/error-code.ts";
import { stopSignal } from "../runtime/stop-signal.ts";
import type { Terminal } from "../runtime/terminal-log.ts";
import { ConfigError } from "../server/config.ts";
import { addAudit } from "./audit.ts";
import { addCanI } from "./can-i.ts";
import { CliCommand, describeOption } from "./cli-command.ts";
import type { AddCommand, Process } from "./command.ts";
import { addCompletion } from "./completion/completion.ts";
import { environment } from "./config.ts";
import { addConsole } from "./console.ts";
import { addController } from "./controller.ts";
import { addDescribe } from "./describe/describe.ts";
import { errorLines } from "./describe-error.ts";
import { addDoctor } from "./doctor/doctor.ts";
import { addEvents } from "./events.ts";
import { addExport } from "./export.ts";
import { addForgetEncryptionKey } from "./forget-encryption-key.ts";
import { addGet } from "./get/get.ts";
import { addImport } from "./import.ts";
import { addInit } from "./init/init.ts";
import { addMemoryExport } from "./memory/memory-export.ts";
import { addMemoryImport } from "./memory/memory-import.ts";
import { addMigrate } from "./migrate.ts";
import { addMigrateApiVersion } from "./migrate-api-version.ts";
import { addPlan, DETAILED_EXIT_CODE } from "./plan/plan.ts";
import { addRevoke } from "./revoke.ts";
import { addRevokeSubject } from "./revoke-subject.ts";
import { addRotate } from "./rotate.ts";
import { addScan } from "./scan/scan.ts";
import { addServer } from "./serve.ts";
import { addUp } from "./up.ts";
import { UsageError } from "./usage-error.ts";
import { addValidate } from "./validate.ts";
import { addVersion, packageVersion } from "./version.ts";
import { addWhoami } from "./whoami.ts";

/** In the groups and the order in which help shows them. */
const COMMANDS: Readonly<Record<string, readonly AddCommand[]>> = {
  "Run:": [addUp, addServer, addController, addMigrate, addMigrateApiVersion],
  "Manifests:": [addInit, addValidate, addPlan, addImport, addExport],
  "Look:": [addGet, addDescribe, addEvents, addAudit, addWhoami, addCanI, addDoctor, addScan],
  "Memory:": [addMemoryExport, addMemoryImport],
  "By hand:": [addRevoke, addRevokeSubject, addRotate, addConsole, addForgetEncryptionKey],
  "Other:": [addCompletion, addVersion],
};

/** What the program has of the process that runs it. */
export type Surroundings = Pick<Process, "env"> & {
  /** @param tell told that it stops */
  readonly stopSignal: (tell: (line: string) => void) => AbortSignal;
  /** Writes to standard output. */
  readonly out: (text: string) => void;
  /** Writes to standard error. */
  readonly err: (text: string) => void;
  /** Where standard output is a terminal. */
  readonly terminal?: Terminal;
};

function ofThisProcess(): Surroundings {
  const env = environment();
  const out = (text: string) => void process.stdout.write(text);
  const err = (text: string) => void process.stderr.write(text);
  const { stdout } = process;
  stdout.on("error", (error) => {
    // Whoever has read enough, as `head` has, is told nothing.
    if (!hasCode(error, "EPIPE")) writeError(new Error(`standard output cannot be written: ${error.message}`), err);
    process.exit(1);
  });
  const terminal = stdout.isTTY ? { terminal: { hasColours: stdout.hasColors() } } : {};
  return { env, out, err, ...terminal, stopSignal: (tell) => stopSignal(env, tell) };
}

function writeError(error: unknown, err: Surroundings["err"]): void {
  err(
    errorLines(error)
      .map((line) => `${line}\n`)
      .join(""),
  );
}

/** No line of help is longer, on whatever it is shown. */
const MAX_WIDTH = 100;

/** The program with all its commands. They write as the process does, and help and refusals as `output` says. */
export function createProgram(context: Process, output: OutputConfiguration = {}): CliCommand {
  const program = new CliCommand("keyplane")
    .description("Declarative API keys for an AI platform")
    .version(packageVersion())
    .exitOverride()
    .configureOutput(output)
    .configureHelp({
      helpWidth: MAX_WIDTH,
      showGlobalOptions: true,
      optionDescription: describeOption,
      subcommandTerm: (command) => command.name(),
    });
  for (const [heading, adders] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const add of adders) add(program, context);
  }
  program.helpCommand("help [command]", "show what a command takes, with examples");
  return program;
}

/** Runs one command to its exit code. */
export async function main(args: readonly string[], surroundings: Surroundings = ofThisProcess()): Promise<number> {
  const { env, err } = surroundings;
  let code = 0;
  let stop: AbortSignal | undefined;
  const out = (line: string) => surroundings.out(`${line}\n`);
  const context: Process = {
    env,
    out,
    terminal: surroundings.terminal,
    exit: (failed) => {
      code = failed;
    },
    stopSignal: () => (stop ??= surroundings.stopSignal(out)),
    interrupt: () => surroundings.stopSignal(() => {}),
  };
  const program = createProgram(context, { writeOut: surroundings.out, writeErr: err });
  try {
    await program.parseAsync([...args], { from: "user" });
    if (stop?.aborted) out("stopped");
    return code;
  } catch (error) {
    if (stop?.aborted && error === stop.reason) {
      out("stopped");
      return 0;
    }
    const wrongUse = args.some((arg) => arg.startsWith(DETAILED_EXIT_CODE)) ? 1 : 2;
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : wrongUse;
    writeError(error, err);
    return [UsageError, ConfigError, KubeconfigError, DataLockedError].some((kind) => error instanceof kind)
      ? wrongUse
      : 1;
  }
}
