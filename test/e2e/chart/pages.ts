import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { COMPILE_CACHE } from "../../env/compile-cache.ts";
import { RARE_COLLECTION } from "../../env/go/go-program.ts";
import { KEYPLANE_IMAGE } from "../../env/node.ts";

const ROOT = join(import.meta.dirname, "../../..");

/** What a page of the docs has below a heading, up to the next one of its level or a higher one. */
export function sectionOf(page: string, heading: string): string {
  const [, hashes = "", section] =
    readFileSync(join(ROOT, page), "utf8").match(new RegExp(`^(##+) ${heading}\n([\\s\\S]*)`, "m")) ?? [];
  if (section === undefined) throw new Error(`${page} has no heading "${heading}"`);
  return section.split(new RegExp(`^#{2,${hashes.length}} `, "m"), 1).join();
}

/** The code blocks of a section, of whatever language, in order. */
export function blocksOf(page: string, heading: string): string[] {
  return [...sectionOf(page, heading).matchAll(/^```\w*\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);
}

/** The commands in the running text of a section, in order. */
export function commandsIn(page: string, heading: string): string[] {
  return [...sectionOf(page, heading).matchAll(/`((?:kubectl|helm) [^`]+)`/g)].map(([, command = ""]) => command);
}

/** What a reader puts in place of what a page leaves open. */
export function fillIn(script: string, { team, url }: { readonly team: string; readonly url: string }): string {
  return script
    .replaceAll("NAMESPACE", team)
    .replaceAll("FILE", "database-url")
    .replaceAll(/(REGISTRY|registry\.example\.com)\/keyplane/g, KEYPLANE_IMAGE)
    .replaceAll("https://keyplane.example.com", url)
    .replaceAll("helm upgrade ", "helm upgrade --wait ");
}

/** A terminal in a folder that has what pages name of this checkout, and the command `keyplane`. */
export type Terminal = {
  readonly folder: string;
  /** What a script prints. @throws with what it says where a command of it fails */
  run(script: string): Promise<string>;
  close(): Promise<void>;
};

export async function openTerminal(kubeconfig: string, programs: { kubectl: string; helm: string }): Promise<Terminal> {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-terminal-"));
  const bin = join(folder, "bin");
  await mkdir(bin);
  for (const [name, path] of Object.entries(programs)) await symlink(path, join(bin, name));
  const command = `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, "cli/main.ts")}' "$@"\n`;
  await writeFile(join(bin, "keyplane"), command, { mode: 0o755 });
  for (const name of ["infra/chart", "infra/kustomize", "infra/rbac", "crds"])
    await cp(join(ROOT, name), join(folder, name), { recursive: true });
  const PATH = [bin, process.env.PATH].join(delimiter);
  const ofPrograms = { KUBECONFIG: kubeconfig, KUBERC: "off", ...RARE_COLLECTION, ...COMPILE_CACHE };
  const env = { HOME: folder, PATH, ...ofPrograms };
  return {
    folder,
    async run(script) {
      const shell = spawn("sh", ["-euc", script], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
      const ended = Promise.withResolvers<number | null>();
      shell.on("error", ended.reject).on("close", ended.resolve);
      const [stdout, stderr, code] = await Promise.all([text(shell.stdout), text(shell.stderr), ended.promise]);
      if (code !== 0) throw new Error(`${script}\nended with ${code}:\n${stdout}${stderr}`);
      return stdout;
    },
    close: () => rm(folder, { recursive: true }),
  };
}
