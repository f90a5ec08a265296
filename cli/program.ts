/** Commands of `keyplane`. Exit codes (spec §8): 0 done, 1 the work failed, 2 wrong use. */
import { CommanderError, type OutputConfiguration } from "commander";
import { DataLockedError } from "../controller/cluster/files/lock.ts";
import { KubeconfigError } from "../controller/cluster/kubernetes/api/kubeconfig-error.ts";
import { hasCode } from "../runtime/error-code.ts";
import type { Logger } from "../runtime/log.ts";
import { logUncaught, logWarnings } from "../runtime/process-faults.ts";
import { ConfigError } from "../runtime/settings.ts";
import { stopSignal } from "../runtime/stop-signal.ts";
import type { Terminal } from "../runtime/terminal-log.ts";
import { CliCommand, describeOption } from "./command/cli-command.ts";
import { type AddCommand, DETAILED_EXIT_CODE, type Process } from "./command/command.ts";
import { environment } from "./command/config.ts";
import { assertNoEmptyFlags } from "./command/empty-flags.ts";
import { UsageError } from "./command/usage-error.ts";
import { assertTrustedFiles } from "./data/trusted-files.ts";
import { ERROR_PREFIX, errorLines } from "./output/describe-error.ts";
import { completeCommands } from "./output/own-command.ts";
import { createProgress, type ProgressTerminal } from "./output/progress.ts";
import { packageVersion } from "./version/package-version.ts";

/**
 * Commands in the groups and order of help. Each is loaded only when it is called, since loading all of them takes half
 * a second.
 */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, () => Promise<AddCommand>>>>> = {
  "Run:": {
    up: async () => (await import("./up/up.ts")).addUp,
    server: async () => (await import("./serve.ts")).addServer,
    controller: async () => (await import("./controller.ts")).addController,
    migrate: async () => (await import("./migrate.ts")).addMigrate,
    "migrate-api-version": async () => (await import("./migrate-api-version.ts")).addMigrateApiVersion,
  },
  "Manifests:": {
    init: async () => (await import("./init/init.ts")).addInit,
    validate: async () => (await import("./validate/validate.ts")).addValidate,
    plan: async () => (await import("./plan/plan.ts")).addPlan,
    import: async () => (await import("./import.ts")).addImport,
    export: async () => (await import("./export.ts")).addExport,
    advise: async () => (await import("./advise.ts")).addAdvise,
  },
  "Inspect:": {
    get: async () => (await import("./get/get.ts")).addGet,
    describe: async () => (await import("./describe/describe.ts")).addDescribe,
    wait: async () => (await import("./wait/wait.ts")).addWait,
    events: async () => (await import("./events.ts")).addEvents,
    audit: async () => (await import("./audit.ts")).addAudit,
    whoami: async () => (await import("./whoami.ts")).addWhoami,
    env: async () => (await import("./env/env.ts")).addEnv,
    "can-i": async () => (await import("./can-i.ts")).addCanI,
    doctor: async () => (await import("./doctor/doctor.ts")).addDoctor,
    scan: async () => (await import("./scan/scan.ts")).addScan,
  },
  "Memory:": {
    "memory-export": async () => (await import("./memory/memory-export.ts")).addMemoryExport,
    "memory-import": async () => (await import("./memory/memory-import.ts")).addMemoryImport,
    "memory-subjects": async () => (await import("./memory/memory-subjects.ts")).addMemorySubjects,
    "memory-erase-subject": async () => (await import("./memory/memory-erase-subject.ts")).addMemoryEraseSubject,
    "memory-restore": async () => (await import("./memory/memory-restore.ts")).addMemoryRestore,
  },
  "Administer:": {
    revoke: async () => (await import("./revoke.ts")).addRevoke,
    "revoke-subject": async () => (await import("./revoke-subject.ts")).addRevokeSubject,
    "end-sessions": async () => (await import("./end-sessions.ts")).addEndSessions,
    "release-budgets": async () => (await import("./release-budgets.ts")).addReleaseBudgets,
    "forget-policies": async () => (await import("./forget-policies.ts")).addForgetPolicies,
    rotate: async () => (await import("./rotate.ts")).addRotate,
    console: async () => (await import("./console.ts")).addConsole,
    "forget-encryption-key": async () => (await import("./forget-encryption-key.ts")).addForgetEncryptionKey,
  },
  "Other:": {
    completion: async () => (await import("./completion/completion.ts")).addCompletion,
    version: async () => (await import("./version/version.ts")).addVersion,
  },
};

/** Process that runs the program, as far as the program uses it. */
export type HostProcess = Pick<Process, "env"> & {
  /**
   * Returns the signal to stop.
   *
   * @param print called with a line that says that the process stops
   * @param serves true if the command goes on when its standard output cannot be written
   */
  readonly stopSignal: (print: (line: string) => void, serves: boolean) => AbortSignal;
  /** Writes to standard output. */
  readonly out: (text: string) => void;
  /** Writes to standard error. */
  readonly err: (text: string) => void;
  /** Terminal on standard output, if it is a terminal. */
  readonly terminal?: Terminal;
  /** Terminal on standard error, if it is a terminal. */
  readonly progressTerminal?: ProgressTerminal;
  /** Makes the process log what Node.js would print. */
  readonly logFaults?: (log: Logger) => void;
  /** Makes the process end after its command although no reader takes its standard output. */
  readonly endUnread?: () => void;
};

/** Time in milliseconds that a serving command, once it is over, gives the reader of its output. */
const UNREAD_MS = 1_000;

/** Columns of a terminal that does not report its width. */
const USUAL_COLUMNS = 80;

function ofThisProcess(): HostProcess {
  const env = environment();
  const out = (text: string) => void process.stdout.write(text);
  const err = (text: string) => void process.stderr.write(text);
  const { stdout } = process;
  let isServing = false;
  stdout.on("error", (error) => {
    // What serves does so, and drains, whether or not it can say that it does (threats c44).
    if (isServing) return;
    // A reader that has enough and closes the pipe, such as `head`, gets no error message.
    if (!hasCode(error, "EPIPE")) writeError(new Error(`standard output cannot be written: ${error.message}`), err);
    process.exit(1);
  });
  const terminal = stdout.isTTY ? { terminal: { hasColours: stdout.hasColors() } } : {};
  const { stderr } = process;
  const seen = stderr.isTTY ? { progressTerminal: { write: err, columns: stderr.columns || USUAL_COLUMNS } } : {};
  const endUnread = () => {
    setTimeout(() => {
      if (stdout.writableLength > 0) process.exit();
    }, UNREAD_MS).unref();
  };
  const signal = (print: (line: string) => void, serves: boolean) => {
    isServing ||= serves;
    return stopSignal(env, print);
  };
  const logFaults = (log: Logger) => {
    logWarnings(log);
    logUncaught(log);
  };
  return { env, out, err, ...terminal, ...seen, stopSignal: signal, endUnread, logFaults };
}

function writeError(error: unknown, err: HostProcess["err"]): void {
  err(
    errorLines(error)
      .map((line) => `${line}\n`)
      .join(""),
  );
}

/** Commands whose output is collected as logs: they write JSON, except on a terminal. */
const SERVICES: ReadonlySet<string | undefined> = new Set(["server", "controller"]);

/** Functions by which a command writes its output, warnings and errors. */
type CommandOutput = {
  readonly say: (line: string) => void;
  readonly warn: (line: string) => void;
  readonly complain: (lines: readonly string[]) => void;
};

async function outputOf(called: string | undefined, host: HostProcess): Promise<CommandOutput> {
  const { out, err, terminal, logFaults } = host;
  if (!SERVICES.has(called) || terminal !== undefined) {
    const write = (to: (text: string) => void) => (line: string) => to(`${line}\n`);
    return {
      say: write(out),
      warn: (line) => write(err)(`${ERROR_PREFIX}${line}`),
      complain: (lines) => err(lines.map((line) => `${line}\n`).join("")),
    };
  }
  const { createLog } = await import("../runtime/log.ts");
  const [said, wrong] = [createLog("info", { write: out }), createLog("error", { write: err })];
  logFaults?.(createLog("warn"));
  return {
    say: (line) => said.info({}, line),
    warn: (line) => said.warn({}, line),
    complain(lines) {
      for (const line of lines) wrong.error({}, line.replace(ERROR_PREFIX, ""));
    },
  };
}

/** Longest line of help, in characters, however wide the terminal is. */
const MAX_WIDTH = 100;

/**
 * Creates the program with its commands. Commands write through the process; help and refusals are written as `output`
 * says.
 *
 * @param called name of the only command that is needed; undefined, or a word that is no command, for all of them
 */
export async function createProgram(
  context: Process,
  output: OutputConfiguration = {},
  called?: string,
): Promise<CliCommand> {
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
  const isOne = Object.values(COMMANDS).some((group) => Object.hasOwn(group, called ?? ""));
  for (const [heading, group] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const [name, load] of Object.entries(group)) {
      if (!isOne || name === called) (await load())(program, context);
    }
  }
  program.helpCommand("help [command]", "show what a command takes, with examples");
  return program;
}

/** Runs one command, and returns its exit code. */
export async function main(args: readonly string[], host: HostProcess = ofThisProcess()): Promise<number> {
  const { env } = host;
  const [called] = args;
  const voice = await outputOf(called, host);
  let code = 0;
  let stop: AbortSignal | undefined;
  const progress = createProgress(host.progressTerminal);
  const out = (line: string) => {
    progress.hide();
    voice.say(line);
  };
  const context: Process = {
    env,
    out,
    terminal: host.terminal,
    progress,
    exit: (failed) => {
      code = failed;
    },
    stopSignal: () => (stop ??= host.stopSignal(out, true)),
    interrupt: () => host.stopSignal(() => {}, false),
  };
  const writeErr = (text: string) => voice.complain(text.trimEnd().split("\n"));
  const output = { writeOut: host.out, writeErr };
  // A completion is made of all of them.
  const program = await createProgram(context, output, called === "completion" ? undefined : called);
  program.hook("preAction", (_, command) => {
    if (!(command instanceof CliCommand)) return;
    assertNoEmptyFlags(command);
    assertTrustedFiles(command, env, voice.warn);
  });
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
    voice.complain(errorLines(error).map((line) => completeCommands(line, args, env)));
    return [UsageError, ConfigError, KubeconfigError, DataLockedError].some((kind) => error instanceof kind)
      ? wrongUse
      : 1;
  } finally {
    // What other commands print may be read as slowly as a person turns its pages.
    if (stop !== undefined) host.endUnread?.();
  }
}
