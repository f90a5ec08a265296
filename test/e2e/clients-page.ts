import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { expect } from "vitest";
import { ROOT, read } from "../architecture/sources.ts";
import { makeHome, startUp } from "../cli/up.ts";
import { COMPILE_CACHE } from "../env/compile-cache.ts";
import { printedBy, scriptOf, sectionOf } from "../env/guide.ts";
import type { ModelClient } from "./model-clients.ts";
import { startProviderStub } from "./providers/stub.ts";
import { type Installed, runModels, type TriedModels } from "./tried-models.ts";

const PAGE = read("docs/clients.md");

type Reader = {
  /** Where programs are found first. */
  readonly path?: string;
  /** The packages that have been installed, as a folder `node_modules`. */
  readonly modules?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The files in the reader's home that the page puts a key into. */
  readonly keyFiles?: readonly string[];
};

export type ClientsPage = Awaited<ReturnType<typeof openClientsPage>>;

/** docs/clients.md beside a running quickstart: each section from a folder of its own, which is its reader's home too. */
export async function openClientsPage() {
  const home = makeHome();
  const folders: string[] = [];
  const stub = await startProviderStub();
  cpSync(join(ROOT, "examples/quickstart/manifests"), home.manifests, { recursive: true });
  const gateway = join(home.manifests, "gateway.yaml");
  writeFileSync(gateway, readFileSync(gateway, "utf8").replaceAll("http://127.0.0.1:9100", stub.url));
  const up = await startUp(home);
  for (const name of ["docs-agent", "chat-app"]) await up.waitFor("research", name, "Ready");

  /** A text of the page, for this server. */
  function here(text: string): string {
    return text
      .replaceAll("http://127.0.0.1:8080", up.url)
      .replaceAll(/(?:\/home\/anna\/keyplane\/)?\.keyplane(?=\/secrets|$)/gm, home.data);
  }

  return {
    /** A section's text, for this server. */
    section: (heading: string): string => here(sectionOf(PAGE, heading)),

    /** What a key's Secret has below a data key. */
    secret: (namespace: string, name: string, dataKey: string): string =>
      readFileSync(join(home.data, "secrets", namespace, name, dataKey), "utf8"),

    /**
     * Goes through a section as its reader does, after the one on the key. What it shows as printed is printed, and no
     * file has a key in it but those that are said to.
     *
     * @returns the reader's home
     */
    async follow(heading: string, { path = "", modules, env = {}, keyFiles = [] }: Reader = {}): Promise<string> {
      const reader = mkdtempSync(join(tmpdir(), "keyplane-client-"));
      folders.push(reader);
      if (modules !== undefined) symlinkSync(modules, join(reader, "node_modules"));
      const script = here(scriptOf(sectionOf(PAGE, "The key") + sectionOf(PAGE, heading), home.manifests));
      const programs = [path, dirname(process.execPath), process.env.PATH].join(delimiter);
      // Some print on the one, some on the other.
      const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", `exec 2>&1\n${script}`], {
        cwd: reader,
        env: { ...COMPILE_CACHE, ...env, PATH: programs, HOME: reader },
      });
      const lines = stripVTControlCharacters(stdout)
        .split("\n")
        .map((line) => line.trim());
      for (const line of printedBy(here(sectionOf(PAGE, heading)))) expect(lines, stdout).toContain(line.trim());
      const keys = ["docs-agent", "chat-app"].map((name) => home.secretOf("research", name));
      expect(filesWith(keys, reader).sort()).toEqual(keyFiles);
      return reader;
    },

    /** Tries a client of models as its row has it, with a key for the gateway and one for the memory. */
    tryModels: (program: string, client: ModelClient, installed: Installed): Promise<TriedModels> =>
      runModels(
        {
          ...{ program, client, upstream: "stub" as const },
          baseUrl: up.url + client.path,
          key: home.secretOf("research", "chat-app"),
          otherKey: home.secretOf("research", "docs-agent"),
        },
        installed,
      ),

    /** The packages that a section says it was tried with: `mcp==2.3.0`, `mcp-remote@0.15.1`. */
    triedWith(heading: string): string[] {
      const [, packages = ""] = /\b[Tt]ried with (`.*`)\.\s*$/m.exec(sectionOf(PAGE, heading)) ?? [];
      return [...packages.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    },

    async close(): Promise<void> {
      await up.stop();
      await stub.close();
      home.remove();
      for (const folder of folders) rmSync(folder, { recursive: true });
    },
  };
}

function filesWith(keys: readonly string[], folder: string): string[] {
  return filesBelow(folder)
    .filter((file) => keys.some((key) => readFileSync(file).includes(key)))
    .map((file) => file.slice(folder.length + 1));
}

/** Not what a link leads to, as the installed packages are: Node's own recursive listing would go there. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}
