import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { LocalWorkspace, PulumiCommand, type PulumiFn, type Stack } from "@pulumi/pulumi/automation/index.js";
import { afterAll, describe, inject } from "vitest";
import { type AskedServer, askServer } from "./asked-server.ts";
import { COMPILE_CACHE } from "./compile-cache.ts";
import { askDesk } from "./desk.ts";
import { RARE_COLLECTION } from "./go/go-program.ts";
import type { PulumiAddress } from "./pulumi/start.ts";
import { lastUpdateIn, outputsIn } from "./pulumi/state.ts";

/** Started by importing this file. */
const pulumi = await askDesk<PulumiAddress>(inject("pulumiPort"));

export type PulumiWorld = PulumiAddress &
  AskedServer & {
    /** A stack of its own, in a folder of its own, with nothing of this machine's but the CLI and the provider. */
    makeStack(program: PulumiFn, options?: StackOptions): Promise<TestStack>;
    /** A folder, and the environment in which the CLI keeps all that it keeps there. */
    makeWorkspace(): Promise<Workspace>;
    /** The same of a project that is these files, in a language that the CLI runs itself. */
    makeProject(files: Readonly<Record<string, string>>): Promise<Project>;
  };

export type StackOptions = {
  readonly project?: string;
  /** Besides, or instead of, the variables that say where Keyplane is. */
  readonly env?: Readonly<Record<string, string>>;
};

/** Runs a command of the CLI on the stack. */
type Cli = (...args: string[]) => Promise<{ out: string; failed: boolean }>;

export type Workspace = {
  readonly folder: string;
  readonly env: Readonly<Record<"PATH", string> & Record<string, string>>;
};
export type Project = {
  readonly folder: string;
  readonly cli: Cli;
  /** Puts other files in place of those of their names. */
  rewrite(files: Readonly<Record<string, string>>): Promise<void>;
};

export type TestStack = {
  readonly stack: Stack;
  /** All that Pulumi keeps: the state, its history, plug-ins' data. */
  readonly folder: string;
  readonly cli: Cli;
  /** What the commands that are running print, and what they say when they fail. */
  try(operation: Promise<{ stdout: string }>): Promise<{ out: string; failed: boolean }>;
  /** Ends the CLI as a crash does. */
  kill(): Promise<void>;
};

/** For promises on the real CLI against a real server, which all files of the run share: each has teams of its own. */
export function describeOnPulumi(promise: string, tests: (pulumi: PulumiWorld) => void): void {
  describe(`${promise}, with the Pulumi CLI`, () => {
    const folders: string[] = [];
    afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));
    const makeFolder = async () => {
      const folder = await mkdtemp(join(tmpdir(), "keyplane-stack-"));
      folders.push(folder);
      return folder;
    };
    tests({
      ...pulumi,
      async makeStack(program, options) {
        return openStack(pulumi, await makeFolder(), program, options);
      },
      async makeWorkspace() {
        const folder = await makeFolder();
        return { folder, env: await environmentIn(folder, pulumi) };
      },
      async makeProject(files) {
        return openProject(pulumi, await makeFolder(), files);
      },
      ...askServer(() => pulumi),
    });
  });
}

async function openStack(
  address: PulumiAddress,
  folder: string,
  program: PulumiFn,
  { project = "tests", env = {} }: StackOptions = {},
): Promise<TestStack> {
  const place = (name: string) => join(folder, name);
  const [work, home, pids] = [place("work"), place("home"), place("pids")];
  await Promise.all(["work", "root/bin"].map((name) => mkdir(place(name), { recursive: true })));
  await writeFile(place("root/bin/pulumi"), `#!/bin/sh\necho $$ >>${pids}\nexec ${address.cli} "$@"\n`);
  await chmod(place("root/bin/pulumi"), 0o755);
  const envVars = { ...(await environmentIn(folder, address)), ...env };
  const stack = await LocalWorkspace.createStack(
    { stackName: "test", projectName: project, program },
    {
      workDir: work,
      pulumiHome: home,
      pulumiCommand: await PulumiCommand.get({ root: place("root"), skipVersionCheck: true }),
      projectSettings: { name: project, runtime: "nodejs", backend: { url: `file://${place("backend")}` } },
      envVars,
    },
  );
  const backend = join(place("backend"), ".pulumi");
  stack.outputs = () => outputsIn(join(backend, "stacks", project, "test.json"), envVars.PULUMI_CONFIG_PASSPHRASE);
  stack.info = () => lastUpdateIn(join(backend, "history", project, "test"));
  return {
    stack,
    folder,
    try: outcome,
    cli: cliIn(work, address.cli, envVars),
    async kill() {
      const pid = (await readFile(pids, "utf8")).trim().split("\n").at(-1);
      process.kill(Number(pid), "SIGKILL");
    },
  };
}

/** What the CLI runs with: all that it keeps is in the folder. */
async function environmentIn(folder: string, { path, url, tokenFile }: PulumiAddress) {
  const [home, backend] = [join(folder, "home"), join(folder, "backend")];
  await Promise.all([home, backend].map((place) => mkdir(place)));
  return {
    PATH: path,
    HOME: home,
    PULUMI_HOME: home,
    PULUMI_BACKEND_URL: `file://${backend}`,
    PULUMI_CONFIG_PASSPHRASE: "only of this test",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    KEYPLANE_URL: url,
    KEYPLANE_TOKEN_FILE: tokenFile,
    ...RARE_COLLECTION,
    ...COMPILE_CACHE,
  };
}

async function openProject(
  address: PulumiAddress,
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<Project> {
  const work = join(folder, "work");
  await mkdir(work);
  const rewrite = async (files: Readonly<Record<string, string>>) => {
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(work, name), text)));
  };
  await rewrite(files);
  const cli = cliIn(work, address.cli, await environmentIn(folder, address));
  const { out, failed } = await cli("stack", "init");
  if (failed) throw new Error(out);
  return { folder, cli, rewrite };
}

function cliIn(cwd: string, cli: string, env: Readonly<Record<string, string>>): Cli {
  const fixed = ["--stack", "test", "--non-interactive"];
  return (...args) => outcome(run(cli, [...args, ...fixed], { cwd, env, maxBuffer: 1 << 26 }));
}

function outcome(operation: Promise<{ stdout: string }>) {
  return operation.then(
    ({ stdout }) => ({ out: stdout, failed: false }),
    (error: Error & { stdout?: string }) => ({ out: `${error.stdout ?? ""}${error}`, failed: true }),
  );
}

const run = promisify(execFile);
