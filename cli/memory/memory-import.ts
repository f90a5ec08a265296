import { counted } from "../../domain/counted.ts";
import type { Environment } from "../../domain/environment.ts";
import type { Whoami } from "../../server/whoami/whoami.ts";
import { type AddCommand, STDIN } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { callApi } from "../management/api-call.ts";
import { askForMemory, type KeyChoice, openAsKey } from "../management/key-client.ts";
import { outputOption, outputText, type StructuredFormat } from "../output/output.ts";
import { plainText } from "../output/plain-text.ts";
import { type ImportResult, importLibrary } from "./import-library.ts";
import { readImport } from "./read-import.ts";

type Flags = KeyChoice & { readonly library?: string; readonly path: string; readonly output?: StructuredFormat };

/** Adds `keyplane memory-import`, which imports memories of other products, or an export, into a library. */
export const addMemoryImport: AddCommand = (program, { env, out, exit, progress }) => {
  askForMemory(
    program
      .command("memory-import")
      .description("import memories or a folder of Markdown into a library")
      .argument(
        "<path>",
        "a file of memory-export, @modelcontextprotocol/server-memory or mem0 (- is standard input), or a folder of Markdown such as an Obsidian vault",
      ),
  )
    .option("--library <name>", "the library; default: that of the key or its team")
    .addOption(outputOption())
    .example(
      "keyplane memory-import handbook.jsonl --library handbook --key-file key --data .keyplane",
      "import an export",
    )
    .example(
      "keyplane memory-import notes --library handbook --key-file key --data .keyplane",
      "an atom per Markdown file; a second run updates what has changed",
    )
    .action(async (path: string, { output, ...flags }: Omit<Flags, "path">) => {
      const { into, result } = await progress.during("reading the file", (show) =>
        runImport(env, { ...flags, path }, show),
      );
      out(output === undefined ? resultText(result, into) : outputText(result, output));
      if (result.leftOut.length > 0) exit(1);
    });
};

/** Runs the import. @returns the result, and the default library if no other is named */
async function runImport(
  env: Environment,
  { path, library, ...choice }: Flags,
  show: (text: string) => void,
): Promise<{ readonly into: string | null; readonly result: ImportResult }> {
  if (path === STDIN && choice.keyFile === STDIN) {
    throw new UsageError("standard input cannot be both the key and the atoms: give one of them by a file");
  }
  const { items, leftOut, strayLinks } = await readImport(path);
  const target = await openAsKey(env, choice);
  const into = library === undefined ? (await callApi<Whoami>(target, "GET", "whoami")).defaultLibrary : null;
  const result = await importLibrary(target, library, items, (done) => show(`${done} of ${items.length} atoms`));
  return {
    into,
    result: {
      ...result,
      droppedLinks: result.droppedLinks + strayLinks,
      leftOut: [...leftOut, ...result.leftOut],
    },
  };
}

function resultText(result: ImportResult, into: string | null): string {
  const { imported, corrected, unchanged, newer, expired, droppedLinks, leftOut } = result;
  const line = (count: number, text: string) => (count === 0 ? [] : [`${text}: ${count}.`]);
  return [
    `Imported ${counted(imported, "atom")}${into === null ? "" : ` into the default library, ${into}`}.`,
    ...line(corrected, "Atoms that were imported before, have changed, and were corrected"),
    ...line(unchanged, "Atoms that were there already"),
    ...line(newer.length, "Atoms that were changed in the library since they were exported, and were left as they are"),
    ...newer.map((where) => `  ${where}`),
    ...line(expired, "Atoms that have expired, and were left out"),
    ...line(droppedLinks, "Links that lead to no atom, and were dropped"),
    ...line(leftOut.length, "Not imported"),
    ...leftOut.map(({ what, why }) => `  ${what}: ${why}`),
  ]
    .map(plainText)
    .join("\n");
}
