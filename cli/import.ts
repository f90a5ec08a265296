import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { errorMessage } from "../domain/error-text.ts";
import { writeYaml } from "../domain/manifest/document/write-yaml.ts";
import { shellWord } from "../domain/shell-word.ts";
import { hasCode } from "../runtime/error-code.ts";
import type { KeyJson } from "../server/management/keys/shown/key-json.ts";
import type { AddCommand } from "./command/command.ts";
import { UsageError } from "./command/usage-error.ts";
import {
  type ManagementClient,
  openManagement,
  type ServerChoice,
  serverOptions,
} from "./management/management-client.ts";
import { keyTitle, namedKeyJson } from "./management/named-key.ts";
import { findNamedTeam } from "./management/named-team.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";
import { ownCommand } from "./output/own-command.ts";
import { plainText } from "./output/plain-text.ts";

type Flags = ServerChoice & {
  readonly team?: string;
  readonly namespace?: string;
  readonly output?: StructuredFormat;
};

export const addImport: AddCommand = (program, { env, out, exit, progress }) => {
  serverOptions(
    program
      .command("import")
      .description("write manifests that take over keys made by hand; without DIR, list these keys")
      .argument("[dir]", "the folder to write to, a file per key"),
  )
    .option("--team <team>", "only keys of this team")
    .option("--namespace <name>", "the namespace to declare them in; without, their team's first")
    .addOption(outputOption())
    .example(
      "keyplane import --team research --data .keyplane",
      "list which keys can be declared, and why others cannot",
    )
    .example("keyplane import manifests --team research --data .keyplane", "write their manifests")
    .action(async (dir: string | undefined, { team, namespace, output, ...flags }: Flags) => {
      if (dir === "") throw new UsageError("import: name a folder to write to, or leave it out to see what could be");
      const client = await openManagement(env, flags);
      const keys = await client.listKeys({ team });
      if (team !== undefined && keys.length === 0) await findNamedTeam(client, team);
      const imported = await progress.during("reading the keys", (show) =>
        importKeys(client, { dir, namespace, keys }, (done, all) => show(`${done} of ${all} keys`)),
      );
      out(
        output === undefined ? inWords(imported, dir, ownCommand(env)) : outputText(documentOf(imported, dir), output),
      );
      if (imported.leftOut.length > 0) exit(1);
    });
};

type Import = {
  /** Folder for the manifests; undefined if nothing is to be written. */
  readonly dir: string | undefined;
  readonly namespace: string | undefined;
  readonly keys: readonly KeyJson[];
};

type Imported = {
  /** Keys with the path of their manifest; `isNameTaken` if another key is declared by its name. */
  readonly taken: readonly { readonly key: KeyJson; readonly path: string; readonly isNameTaken: boolean }[];
  readonly leftOut: readonly { readonly key: KeyJson; readonly why: string }[];
  /** Number of the other keys, which are declared or managed by programs. */
  readonly others: number;
};

/**
 * Runs `keyplane import` for each key that was made by hand and still works. Nothing takes effect before the manifests
 * are applied, and no existing file is overwritten.
 *
 * @param onKey called before each key with the number of keys that are done, and of all
 */
async function importKeys(
  client: ManagementClient,
  { dir, namespace, keys }: Import,
  onKey: (done: number, all: number) => void,
): Promise<Imported> {
  const living = keys.filter(({ state }) => state !== "revoked" && state !== "expired");
  const byHand = living.filter(({ declaredIn, managedBy }) => declaredIn === null && managedBy === null);
  const taken: Imported["taken"][number][] = [];
  const leftOut: Imported["leftOut"][number][] = [];
  for (const [done, key] of byHand.entries()) {
    onKey(done, byHand.length);
    try {
      const manifest = await importKey(client, key, dir, namespace);
      const isNameTaken = living.some(
        ({ declaredIn, ...other }) =>
          declaredIn !== null && other.namespace === manifest.namespace && other.name === manifest.name,
      );
      taken.push({ key, path: manifest.path, isNameTaken });
    } catch (error) {
      leftOut.push({ key, why: errorMessage(error) });
    }
  }
  return { taken, leftOut, others: living.length - byHand.length };
}

/** Returns a line for each key, and what to do next. */
function inWords({ taken, leftOut, others }: Imported, dir: string | undefined, keyplane: string): string {
  const did = dir === undefined ? "would write" : "wrote";
  return [
    ...taken.map(({ key, path, isNameTaken }) =>
      plainText(
        `${did} ${path}: ${keyTitle(key)}${isNameTaken ? "; another key is declared by this name: give it another metadata.name" : ""}`,
      ),
    ),
    ...leftOut.map(({ key, why }) => plainText(`left out ${keyTitle(key)}, ${key.id}: ${why}`)),
    `${taken.length} of ${taken.length + leftOut.length} keys that were made by hand; ${others} others are declared, or managed by programs`,
    ...(taken.length === 0
      ? []
      : [dir === undefined ? "name a folder to have the manifests written" : nextSteps(dir, keyplane)]),
  ].join("\n");
}

function documentOf({ taken, leftOut, others }: Imported, dir: string | undefined): object {
  return {
    written: dir !== undefined,
    taken: taken.map(({ key, path }) => ({ ...namedKeyJson(key), path })),
    leftOut: leftOut.map(({ key, why }) => ({ ...namedKeyJson(key), why })),
    others,
  };
}

/**
 * Writes the manifest of one key.
 *
 * @returns the path of the manifest, in the folder if there is one, and the name that it declares
 * @throws Error if the key cannot be declared, or the file exists
 */
async function importKey(
  client: ManagementClient,
  { id }: KeyJson,
  dir = "",
  chosen: string | undefined,
): Promise<{ readonly path: string; readonly namespace: string; readonly name: string }> {
  const manifest = await client.exportKey(id, chosen);
  const { namespace, name } = manifest.metadata;
  // Only what may be a name becomes part of a path.
  if (![namespace, name].every((word) => /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(word))) {
    throw new Error("what the server calls it cannot be declared");
  }
  const path = join(dir, namespace, `${name}.yaml`);
  if (dir === "") return { path, namespace, name };
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, writeYaml(manifest), { flag: "wx" }).catch((error: unknown) => {
    throw hasCode(error, "EEXIST") ? new Error(`${path} is there already: move it away`) : error;
  });
  return { path, namespace, name };
}

function nextSteps(dir: string, keyplane: string): string {
  return `Nothing has changed yet: each key is taken over, with the secret that it has, once its manifest is applied.

  ${keyplane} validate -f ${shellWord(resolve(dir))}`;
}
