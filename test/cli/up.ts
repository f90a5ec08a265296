import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { main } from "../../cli/program.ts";
import { COMPILE_CACHE, SHORT_LIVED } from "../env/compile-cache.ts";
import { makeDatabaseFolder } from "../env/database/database-folder.ts";
import { copyEmbedded, keepCompiled } from "../env/database/embedded-database.ts";
import { until } from "../env/until.ts";

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

export type EndedUp = { readonly code: number | null; readonly out: string; readonly err: string };

/** Runs one command of the command line to its end, in this process: to start one takes longer than most commands. */
export async function keyplane(args: readonly string[], env: Record<string, string> = {}): Promise<EndedUp> {
  let [out, err] = ["", ""];
  const code = await main(args, {
    env,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    stopSignal: () => new AbortController().signal,
  });
  return { code, out, err };
}

/** Ends what hangs. */
const MAX_RUN_MS = 120_000;

/**
 * Runs one command as a process of its own, as its user does.
 *
 * @throws Error where it does not end by itself
 */
export async function keyplaneProcess(
  args: readonly string[],
  env: Record<string, string> = {},
  stdin = "",
): Promise<EndedUp> {
  const child = spawnMain(args, env);
  child.stdin.on("error", () => {}).end(stdin);
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = child.kill("SIGKILL");
  }, MAX_RUN_MS);
  const [code] = await once(child, "close");
  clearTimeout(limit);
  if (isLate) throw new Error(`keyplane ${args[0]} did not end by itself: ${out}${err}`);
  return { code, out, err };
}

function spawnMain(args: readonly string[], env: Record<string, string>) {
  return spawn(process.execPath, [...SHORT_LIVED, MAIN, ...args], {
    env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...env },
  });
}

export type Home = ReturnType<typeof makeHome>;
export type Up = Awaited<ReturnType<typeof startUp>>;
/** A running `keyplane up` that the tests of several commands share, each in namespaces and a team of its own. */
export type Installation = { readonly home: Home; readonly data: readonly string[]; up(): Up };
export type UpProcess = Awaited<ReturnType<typeof startUpProcess>>;

/** A folder for manifests and data, which goes with `remove()`. */
export function makeHome() {
  const folder = makeDatabaseFolder("keyplane-cli-");
  const manifests = mkdtempSync(join(folder, "manifests-"));
  return {
    manifests,
    data: join(folder, "data"),
    write: (file: string, text: string) => writeFileSync(join(manifests, file), text),
    /** The plaintext of a key, from the Secret's file. */
    secretOf: (namespace: string, name: string) =>
      readFileSync(join(folder, "data/secrets", namespace, name, "api-key"), "utf8"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The token of a home whose `up` has been started. */
export function tokenOf(home: { readonly data: string }): string {
  return readFileSync(join(home.data, "bootstrap-token"), "utf8").trim();
}

/** The arguments of `keyplane up` on a home, on free ports. */
export const upArgs = (home: Home): string[] => [
  "up",
  ...["--manifests", home.manifests, "--data", home.data, "--port", "0", "--admin-port", "0"],
];

/** A terminal, for which the log is lines for people. */
const PLAIN = { hasColours: false };

/**
 * A running `keyplane up`, once it serves, in this process. It ends with `stop()`. In a new home it finds a database that
 * was made before: what a first start does is what data-folders.faults.test.ts shows.
 */
export async function startUp(home: Home, env: Record<string, string> = {}) {
  await keepCompiled();
  if (!existsSync(home.data)) await copyEmbedded(join(home.data, "db"));
  const stop = new AbortController();
  let output = "";
  const write = (text: string) => {
    output += text;
  };
  let code: number | undefined;
  const ended = main(upArgs(home), {
    env,
    out: write,
    err: write,
    stopSignal: () => stop.signal,
    terminal: PLAIN,
  }).then((ended) => {
    code = ended;
    return ended;
  });
  const up = await upOf(
    home,
    () => output,
    () => code,
  );
  return {
    ...up,
    /** Its exit code, once it has ended. */
    ended,
    stop() {
      stop.abort();
      return ended;
    },
  };
}

/** The same as a process of its own, which can be killed. */
export async function startUpProcess(home: Home, env: Record<string, string> = {}) {
  if (!existsSync(home.data)) await copyEmbedded(join(home.data, "db"));
  const child = spawnMain(upArgs(home), env);
  const ended = once(child, "close");
  let output = "";
  const listen = (chunk: unknown) => {
    output += String(chunk);
  };
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  const up = await upOf(
    home,
    () => output,
    () => child.exitCode ?? undefined,
  );
  return {
    ...up,
    async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<number | null> {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}

/** What a running `keyplane up` shows, once it serves. */
async function upOf(home: Home, output: () => string, exitCode: () => number | undefined) {
  const url = await until("keyplane up to be ready", () => {
    if (exitCode() !== undefined) throw new Error(`it ended with ${exitCode()}: ${output()}`);
    return /^ready (http:\S+)$/m.exec(output())?.[1];
  });

  const statusOf = (namespace: string, name: string) =>
    JSON.parse(readFileSync(join(home.data, "status", namespace, "PlatformKey", `${name}.json`), "utf8")).status;
  const readyOf = (namespace: string, name: string): { status: string; reason: string } =>
    statusOf(namespace, name).conditions.find(({ type }: { type: string }) => type === "Ready");

  return {
    url,
    output,
    statusOf,
    readyOf,
    secretOf: home.secretOf,
    /** Waits until a key's Ready condition has this reason. */
    waitFor: (namespace: string, name: string, reason: string) =>
      until(`PlatformKey ${namespace}/${name} to be ${reason}`, () => readyOf(namespace, name).reason === reason),
    /** The status of a memory request with this credential. */
    async call(credential: string): Promise<number> {
      const answer = await fetch(`${url}/atoms`, { headers: { authorization: `Bearer ${credential}` } });
      await answer.text();
      return answer.status;
    },
  };
}

export const team = (name: string, ...namespaces: string[]): string =>
  `apiVersion: keyplane.dev/v1alpha1\nkind: PlatformTeam\nmetadata: { name: ${name} }\nspec: { namespaces: [${namespaces}] }\n---\n`;

export const key = (name: string, spec = "preset: MCPReadWrite", namespace = "dev"): string =>
  `apiVersion: keyplane.dev/v1alpha1\nkind: PlatformKey\nmetadata: { name: ${name}, namespace: ${namespace} }\nspec: { ${spec} }\n---\n`;
