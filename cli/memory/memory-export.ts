import type { Environment } from "../../domain/environment.ts";
import type { AddCommand } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { callApi } from "../management/api-call.ts";
import { askForMemory, type KeyChoice, openAsKey, refuseArguments } from "../management/key-client.ts";

type Flags = KeyChoice & { readonly library?: string };

type Page = {
  readonly items: readonly ({ library: string; revision: number } & Record<string, unknown>)[];
  readonly nextCursor: string | null;
};

/** `keyplane memory-export`: a library as JSON Lines, an atom each, the newest first. */
export const addMemoryExport: AddCommand = (program, { env, out, progress }) => {
  const command = askForMemory(
    program
      .command("memory-export")
      .description("print the atoms of a library as JSON Lines, which memory-import reads"),
  )
    .option("--library <name>", "the library: name, or namespace/name of another namespace of the team")
    .example(
      "keyplane memory-export --library handbook --key-file key --data .keyplane > handbook.jsonl",
      "write a library to a file",
    )
    .example(
      "keyplane memory-export --library handbook --subject user-4711 --key-file key --data .keyplane",
      "print what is one subject's alone, by a key that serves many",
    )
    .allowExcessArguments()
    .action(async (flags: Flags) => {
      refuseArguments("memory-export", command.args);
      await progress.during("reading the library", (show) => exportLibrary(env, flags, out, show));
    });
};

async function exportLibrary(
  env: Environment,
  { library, ...choice }: Flags,
  out: (line: string) => void,
  show: (text: string) => void,
) {
  if (library === undefined) throw new UsageError("--library is needed: name, or namespace/name");
  const target = await openAsKey(env, choice);
  let cursor: string | null = null;
  let exported = 0;
  do {
    const own = choice.subject === undefined ? {} : { own: "true" };
    const query = new URLSearchParams({ library, limit: "100", ...own, ...(cursor === null ? {} : { cursor }) });
    const page: Page = await callApi<Page>(target, "GET", `memory/atoms?${query}`);
    // The name of the library and the count of revisions are of where it was, not of the atom.
    for (const { library: _library, revision: _revision, ...atom } of page.items) out(JSON.stringify(atom));
    exported += page.items.length;
    show(`${exported} atoms`);
    cursor = page.nextCursor;
  } while (cursor !== null);
}
