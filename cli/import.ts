import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorMessage } from "../domain/error-text.ts";
import { writeYaml } from "../domain/manifest/write-yaml.ts";
import { hasCode } from "../runtime/error-code.ts";
import type { KeyJson } from "../server/management/keys/key-json.ts";
import type { AddCommand, Process } from "./command.ts";
import {
  type ManagementClient,
  openManagement,
  type ServerChoice,
  serverOptions,
} from "./management/management-client.ts";
import { keyTitle } from "./management/named-key.ts";
import { plainText } from "./output/plain-text.ts";
import { shellWord } from "./output/shell-word.ts";
import { UsageError } from "./usage-error.ts";

type Flags = ServerChoice & { readonly team?: string; readonly namespace?: string };

export const addImport: AddCommand = (program, { env, out, exit }) => {
  serverOptions(
    program
      .command("import")
      .description("write manifests that take over the keys which were made by hand; without DIR, say of which")
      .argument("[dir]", "where to write them, a file for each key"),
  )
    .option("--team <name>", "those of this team alone")
    .option("--namespace <name>", "where to declare them; without, in the first of their team's namespaces")
    .example("keyplane import --team research --data .keyplane", "which keys could be declared, and which not, and why")
    .example("keyplane import manifests --team research --data .keyplane", "write their manifests")
    .action(async (dir: string | undefined, { team, namespace, ...flags }: Flags) => {
      if (dir === "") throw new UsageError("import: name a folder to write to, or leave it out to see what could be");
      const client = await openManagement(env, flags);
      const keys = (await client.listKeys()).filter((key) => team === undefined || key.team === team);
      await runImport(client, { dir, namespace, keys }, { out, exit });
    });
};

type Import = {
  /** Undefined where nothing is to be written. */
  readonly dir: string | undefined;
  readonly namespace: string | undefined;
  readonly keys: readonly KeyJson[];
};

/**
 * `keyplane import`: a line for each key that was made by hand and works. Nothing changes before the manifests are
 * applied, and no file is written over. Ends with exit code 1 where a key is left out.
 */
async function runImport(
  client: ManagementClient,
  { dir, namespace, keys }: Import,
  { out, exit }: Pick<Process, "out" | "exit">,
): Promise<void> {
  const living = keys.filter(({ state }) => state !== "revoked" && state !== "expired");
  const byHand = living.filter(({ declaredIn, managedBy }) => declaredIn === null && managedBy === null);
  let [taken, left] = [0, 0];
  for (const key of byHand) {
    try {
      const path = await importKey(client, key, dir, namespace);
      out(plainText(`${dir === undefined ? "would write" : "wrote"} ${path}: ${keyTitle(key)}`));
      taken++;
    } catch (error) {
      out(plainText(`left out ${keyTitle(key)}, ${key.id}: ${errorMessage(error)}`));
      left++;
    }
  }
  const others = living.length - byHand.length;
  out(
    `${taken} of ${byHand.length} keys that were made by hand; ${others} others are declared, or managed by programs`,
  );
  if (taken > 0) out(dir === undefined ? "name a folder to have the manifests written" : nextSteps(dir));
  if (left > 0) exit(1);
}

/**
 * @returns the path of its manifest, in the folder or below where one is named
 * @throws Error where the key cannot be declared, or its file is there
 */
async function importKey(
  client: ManagementClient,
  { id }: KeyJson,
  dir = "",
  chosen: string | undefined,
): Promise<string> {
  const manifest = await client.exportKey(id, chosen);
  const { namespace, name } = manifest.metadata;
  // Only what may be a name becomes part of a path.
  if (![namespace, name].every((word) => /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(word))) {
    throw new Error("what the server calls it cannot be declared");
  }
  const path = join(dir, namespace, `${name}.yaml`);
  if (dir === "") return path;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, writeYaml(manifest), { flag: "wx" }).catch((error: unknown) => {
    throw hasCode(error, "EEXIST") ? new Error(`${path} is there already: move it away`) : error;
  });
  return path;
}

function nextSteps(dir: string): string {
  return `Nothing has changed yet: each key is taken over, with the secret that it has, once its manifest is applied.

  keyplane validate -f ${shellWord(dir)}`;
}
