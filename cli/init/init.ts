import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { errorMessage } from "../../domain/error-text.ts";
import { shellWord } from "../../domain/shell-word.ts";
import type { AddCommand } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { outputOption, outputText, type StructuredFormat } from "../output/output.ts";
import { ownCommand } from "../output/own-command.ts";
import { firstManifests, PROVIDER_FILE } from "./first-manifests.ts";

export const addInit: AddCommand = (program, { env, out }) => {
  program
    .command("init")
    .description("write manifests of a first team, key and gateway; asks nothing")
    .argument("[dir]", "the folder, new or empty", "manifests")
    .option("--team <name>", "the team's name", "my-team")
    .option("--namespace <name>", "the team's first namespace (default: the team's name)")
    .addOption(outputOption())
    .example("keyplane init", "into manifests")
    .example("keyplane init keys --team research --namespace research-dev", "with other names")
    .action(async (dir: string, { team, namespace = team, output }: Flags) => {
      const files = await writeFirstManifests(dir, { team, namespace });
      out(output === undefined ? inWords(dir, namespace, files, ownCommand(env)) : outputText({ files }, output));
    });
};

type Flags = { readonly team: string; readonly namespace?: string; readonly output?: StructuredFormat };
/** File that was written, and what it is for. */
type Written = { readonly path: string; readonly is: string };

/**
 * Runs `keyplane init`: writes the first manifests.
 *
 * @throws UsageError for names that Kubernetes would refuse, and for a folder that is not empty
 */
async function writeFirstManifests(
  dir: string,
  { team, namespace }: { readonly team: string; readonly namespace: string },
): Promise<Written[]> {
  for (const [flag, name] of [
    ["--team", team],
    ["--namespace", namespace],
  ]) {
    if (!/^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$/.test(name ?? "")) {
      throw new UsageError(
        `${flag} ${name}: write a name of lower-case letters, digits and -, of 52 characters at most`,
      );
    }
  }
  // Git's own is not in the way, nor what an editor keeps.
  if (dir === "") throw new UsageError("init: name a folder, or leave it out for manifests");
  const files = firstManifests(team, namespace);
  const taken = (await makeFolder(dir)).filter(
    (name) => !name.startsWith(".") || files.some(({ file }) => file === name),
  );
  if (taken.length > 0) throw new UsageError(`${dir} has ${taken[0]} in it: name a folder with nothing in it`);
  const written: Written[] = [];
  for (const { file, text, is } of files) {
    const path = join(dir, file);
    // One that has come meanwhile stays.
    await writeFile(path, text, { flag: "wx", mode: file === PROVIDER_FILE ? 0o600 : 0o644 });
    written.push({ path, is });
  }
  return written;
}

/** Returns the files that were written, and what to do with them. */
function inWords(dir: string, namespace: string, files: readonly Written[], keyplane: string): string {
  const word = shellWord(resolve(dir));
  const width = Math.max(...files.map(({ path }) => path.length));
  return `${files.map(({ path, is }) => `wrote ${path.padEnd(width)}  ${is}`).join("\n")}

Put your model provider's credential into ${join(dir, PROVIDER_FILE)}. Then, on this machine:

  ${keyplane} validate -f ${word}
  ${keyplane} up --manifests ${word} --data ${shellWord(resolve(".keyplane"))}

or on a cluster in which Keyplane runs, and has namespace ${namespace} among the chart's keyNamespaces:

  kubectl apply --server-side -f ${word}

The first key works as it is; what it may do is yours to edit in ${join(dir, "30-keys.yaml")}.`;
}

/**
 * Makes a folder if there is none.
 *
 * @returns the names of its entries
 * @throws UsageError if it cannot be made, or this user may not read it
 */
async function makeFolder(dir: string): Promise<string[]> {
  try {
    await mkdir(dir, { recursive: true });
    return await readdir(dir);
  } catch (error) {
    throw new UsageError(`init ${dir}: ${errorMessage(error)}: name another folder`);
  }
}
