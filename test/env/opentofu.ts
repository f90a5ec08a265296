import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, inject } from "vitest";
import { type AskedServer, askServer } from "./asked-server.ts";
import { askDesk } from "./desk.ts";
import { RARE_COLLECTION } from "./go/go-program.ts";
import type { TofuPrograms } from "./opentofu/global-setup.ts";
import { SOURCES } from "./opentofu/sources.ts";
import { textsInZip } from "./opentofu/unzip.ts";
import type { PulumiAddress } from "./pulumi/start.ts";

/** Started by importing this file: the server is the one that Pulumi's tests have. */
const [{ cli, providers }, { url, tokenFile }] = await Promise.all([
  askDesk<TofuPrograms>(inject("tofuPort")),
  askDesk<PulumiAddress>(inject("pulumiPort")),
]);

/** What a configuration begins with: every command starts each of these providers, several times. */
export const REQUIRED_PROVIDERS = required("keyplane");
/** The same of one that has a secret store besides. */
export const REQUIRED_WITH_STORE = required("keyplane", "teststore");

function required(...names: readonly (keyof typeof SOURCES)[]): string {
  const sources = names.map((name) => `    ${name} = { source = "keyplane.dev/keyplane/${name}" }\n`);
  return `terraform {\n  required_providers {\n${sources.join("")}  }\n}\n`;
}

export type TofuWorld = AskedServer & {
  /**
   * A folder with a configuration of its own, and nothing of this machine's but the CLI and the provider.
   *
   * @param options.logs whether what runs logs at the level of traces, which takes a third more of the processor
   */
  makeWorkspace(
    files?: Readonly<Record<string, string>>,
    options?: { readonly logs?: boolean },
  ): Promise<TofuWorkspace>;
  /** The variables that a page's commands run with: the CLI and Go are on the PATH, and all that they keep is apart. */
  makeEnvironment(): Promise<Readonly<Record<string, string>>>;
};

type Ran = { readonly out: string; readonly code: number };

export type TofuWorkspace = {
  /** A folder outside of it, where what runs keeps secrets: the one place that may have them. */
  readonly store: string;
  /** Runs a command of the CLI. */
  tofu(...args: string[]): Promise<Ran>;
  /** Writes a file of the configuration anew. */
  write(name: string, text: string): Promise<void>;
  /** All that was printed, logged and written so far, a saved plan's content included. */
  everything(): Promise<string>;
};

/** For promises on the real CLI against a real server, which all files of the run share: each has teams of its own. */
export function describeOnTofu(promise: string, tests: (world: TofuWorld) => void): void {
  describe(`${promise}, with OpenTofu`, () => {
    let root = "";
    const place = (...names: string[]) => join(root, ...names);
    beforeAll(async () => {
      root = await mkdtemp(join(tmpdir(), "keyplane-tofu-"));
    });
    afterAll(() => rm(root, { recursive: true, force: true }));
    const makeHome = async () => {
      const folder = await mkdtemp(place("home-"));
      const env = {
        HOME: folder,
        TF_IN_AUTOMATION: "1",
        TF_INPUT: "0",
        KEYPLANE_URL: url,
        KEYPLANE_TOKEN_FILE: tokenFile,
        ...RARE_COLLECTION,
      };
      return { folder, env };
    };
    tests({
      async makeEnvironment() {
        const { env } = await makeHome();
        return { ...env, ...(await goEnvironment()), PATH: [dirname(cli), process.env.PATH].join(delimiter) };
      },
      async makeWorkspace(files = {}, { logs = false } = {}) {
        const folder = await mkdtemp(place("workspace-"));
        await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
        const home = await makeHome();
        const overrides = Object.keys(SOURCES).map((name) => `"keyplane.dev/keyplane/${name}" = "${providers}"`);
        const rc = `provider_installation {\n  dev_overrides {\n${overrides.join("\n")}\n}\n  direct {}\n}\n`;
        await writeFile(join(home.folder, "tofu.rc"), rc);
        const store = join(home.folder, "store");
        await mkdir(store);
        const env = {
          ...home.env,
          PATH: "/usr/bin:/bin",
          TF_CLI_CONFIG_FILE: join(home.folder, "tofu.rc"),
          ...(logs && { TF_LOG: "trace", TF_LOG_PATH: join(home.folder, "trace.log") }),
        };
        return openWorkspace({ folder, store }, env);
      },
      ...askServer(() => ({ url, tokenFile })),
    });
  });
}

/** What Go has compiled and downloaded is found in another home too. */
async function goEnvironment(): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await promisify(execFile)("go", ["env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY"]);
  return { ...JSON.parse(stdout), CGO_ENABLED: "0", GOFLAGS: "-trimpath -buildvcs=false" };
}

function openWorkspace(
  { folder, store }: { readonly folder: string; readonly store: string },
  env: Readonly<Record<string, string>>,
): TofuWorkspace {
  const printed: string[] = [];
  return {
    store,
    async tofu(...args) {
      const ran = await run([...args, "-no-color"], folder, env);
      printed.push(ran.out);
      return ran;
    },
    write: (name, text) => writeFile(join(folder, name), text),
    async everything() {
      const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
      const files = await Promise.all(names.map(({ parentPath, name }) => readFile(join(parentPath, name))));
      const texts = files.flatMap((bytes) =>
        bytes.subarray(0, 2).toString() === "PK" ? textsInZip(bytes) : [bytes.toString("latin1")],
      );
      return [...printed, ...texts, await readFile(env.TF_LOG_PATH ?? "", "utf8")].join("\n");
    },
  };
}

function run(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(cli, args, { cwd, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      resolve({ out: `${stdout}${stderr}`, code });
    });
  });
}
