import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../../domain/environment.ts";
import { errorMessage } from "../../domain/error-text.ts";
import { hasCode } from "../../runtime/error-code.ts";
import type { Whoami } from "../../server/whoami/whoami.ts";
import type { AddCommand } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { callApi, type Target } from "../management/api-call.ts";
import { askForMemory, type KeyChoice, openAsKey, refuseArguments } from "../management/key-client.ts";
import { markdownName, markdownOf } from "./markdown-atom.ts";

type Flags = KeyChoice & { readonly library?: string; readonly markdown?: string };

type Page = {
  readonly items: readonly ({ id: string; content: string; library: string; revision: number } & Record<
    string,
    unknown
  >)[];
  readonly nextCursor: string | null;
};

/**
 * Adds `keyplane memory-export`, which writes a library as JSON Lines, an atom on each line, newest first, or as
 * Markdown, a file for each atom.
 */
export const addMemoryExport: AddCommand = (program, { env, out, progress }) => {
  const command = askForMemory(
    program
      .command("memory-export")
      .description("export the atoms of a library as JSON Lines or Markdown; memory-import reads both"),
  )
    .option("--library <name>", "the library: NAME, or NAMESPACE/NAME in another namespace of the team")
    .option("--markdown <folder>", "a new or empty folder to write a Markdown file per atom into")
    .example(
      "keyplane memory-export --library handbook --key-file key --data .keyplane > handbook.jsonl",
      "write a library to a file",
    )
    .example(
      "keyplane memory-export --library handbook --markdown handbook --key-file key --data .keyplane",
      "write a library to a folder of Markdown",
    )
    .example(
      "keyplane memory-export --library handbook --subject user-4711 --key-file key --data .keyplane",
      "print the atoms of one subject; a key bound to it needs no --subject",
    )
    .allowExcessArguments()
    .action(async (flags: Flags) => {
      refuseArguments("memory-export", command.args);
      await progress.during("reading the library", (show) => exportLibrary(env, flags, out, show));
    });
};

async function exportLibrary(
  env: Environment,
  { library, markdown: folder, ...choice }: Flags,
  out: (line: string) => void,
  show: (text: string) => void,
) {
  if (library === undefined) throw new UsageError("--library is needed: name, or namespace/name");
  const target = await openAsKey(env, choice);
  if (folder !== undefined) await makeEmpty(folder);
  const own = (await isOfSubject(target)) ? { own: "true" } : {};
  let cursor: string | null = null;
  let exported = 0;
  do {
    const query = new URLSearchParams({ library, limit: "100", ...own, ...(cursor === null ? {} : { cursor }) });
    const page: Page = await callApi<Page>(target, "GET", `memory/atoms?${query}`);
    // The library, whether it is shared and the count of revisions are of where it was, not of the atom.
    for (const { library: _library, revision: _revision, shared: _shared, ...atom } of page.items) {
      if (folder === undefined) out(JSON.stringify(atom));
      else await writeAtom(folder, atom);
    }
    exported += page.items.length;
    show(`${exported} atoms`);
    cursor = page.nextCursor;
  } while (cursor !== null);
  if (folder !== undefined) out(`Wrote ${exported} Markdown files into ${folder}.`);
}

/** True if the export covers one subject's own atoms only. Shared atoms are exported with a key that has no subject. */
async function isOfSubject(target: Target): Promise<boolean> {
  if (target.subject !== undefined) return true;
  const { subjectAccess } = await callApi<Whoami>(target, "GET", "whoami");
  return subjectAccess?.mode === "Bound";
}

/**
 * Makes the folder.
 *
 * @throws UsageError for a folder that is not empty, since files of another export would be imported with this one's
 */
async function makeEmpty(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length === 0) return;
  } catch (error) {
    throw new UsageError(`--markdown ${folder}: ${errorMessage(error)}: name another folder`);
  }
  throw new UsageError(`--markdown ${folder} has files in it: empty it, or name another folder`);
}

/**
 * Writes an atom's file, never over another file or through a link. If the file system takes two names for the same,
 * the second gets the whole id.
 */
async function writeAtom(folder: string, atom: { readonly id: string; readonly content: string }): Promise<void> {
  const write = (isWholeId: boolean) =>
    writeFile(join(folder, markdownName(atom, isWholeId)), markdownOf(atom), { flag: "wx" });
  await write(false).catch((error: unknown) => {
    if (!hasCode(error, "EEXIST")) throw error;
    return write(true);
  });
}
