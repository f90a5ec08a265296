import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { Environment } from "../../domain/environment.ts";
import { unreadableBecause } from "../../runtime/unreadable-because.ts";
import { type AddCommand, STDIN } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { askForMemory, type KeyChoice, openAsKey } from "../management/key-client.ts";
import { outputOption, outputText, type StructuredFormat } from "../output/output.ts";
import { importLibrary } from "./import-library.ts";
import { readLines } from "./library-lines.ts";

type Flags = KeyChoice & { readonly library?: string; readonly file: string; readonly output?: StructuredFormat };

/** `keyplane memory-import`: JSON Lines into a library. */
export const addMemoryImport: AddCommand = (program, { env, out, progress }) => {
  askForMemory(
    program
      .command("memory-import")
      .description("import JSON Lines into a library: of memory-export, or of @modelcontextprotocol/server-memory")
      .argument("<file>", "the file; - is standard input"),
  )
    .option("--library <name>", "the library; without, the default one of the key or its team")
    .addOption(outputOption())
    .example(
      "keyplane memory-import handbook.jsonl --library handbook --key-file key --data .keyplane",
      "bring back what memory-export wrote",
    )
    .action(async (file: string, flags: Omit<Flags, "file">) => {
      out(await progress.during("reading the file", (show) => runImport(env, { ...flags, file }, show)));
    });
};

async function readWhole(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`${file}: ${unreadableBecause(error)}`);
  }
}

async function runImport(
  env: Environment,
  { file, library, output, ...choice }: Flags,
  show: (text: string) => void,
): Promise<string> {
  if (file === STDIN && choice.keyFile === STDIN) {
    throw new UsageError("standard input cannot be both the key and the atoms: give one of them by a file");
  }
  const given = file === STDIN ? await text(process.stdin) : await readWhole(file);
  const { atoms, strayRelations } = readLines(given, file === STDIN ? "standard input" : file);
  const target = await openAsKey(env, choice);
  const { imported, expired, droppedLinks } = await importLibrary(target, library, atoms, (imported) =>
    show(`${imported} of ${atoms.length} atoms`),
  );
  const dropped = droppedLinks + strayRelations;
  if (output !== undefined) return outputText({ imported, expired, droppedLinks: dropped }, output);
  return [
    `Imported ${imported} atoms.`,
    ...(expired === 0 ? [] : [`Atoms that have expired, and were left out: ${expired}.`]),
    ...(dropped === 0 ? [] : [`Links that lead to no atom, and were dropped: ${dropped}.`]),
  ].join("\n");
}
