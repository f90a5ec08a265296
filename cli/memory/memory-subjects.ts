import type { AddCommand } from "../command/command.ts";
import { openManagement, type ServerChoice, serverOptions } from "../management/management-client.ts";
import { outputOption, outputText, type StructuredFormat } from "../output/output.ts";
import { findLibrary } from "./named-library.ts";

type Flags = ServerChoice & { readonly library?: string; readonly output?: StructuredFormat };

/** Adds `keyplane memory-subjects`, which lists the subjects with atoms in a library, a name on each line. */
export const addMemorySubjects: AddCommand = (program, { env, out }) => {
  serverOptions(program.command("memory-subjects").description("list the subjects that have atoms in a library"))
    .option("--library <name>", "the library: NAME, NAMESPACE/NAME or id; also a retained one")
    .addOption(outputOption())
    .example("keyplane memory-subjects --library handbook --data .keyplane", "the subjects of a library of keyplane up")
    .action(async ({ library: named, output, ...choice }: Flags) => {
      const client = await openManagement(env, choice);
      const { id } = await findLibrary(client, named);
      if (output !== undefined)
        return out(outputText({ items: await Array.fromAsync(client.listSubjects(id)) }, output));
      for await (const { subject } of client.listSubjects(id)) out(subject);
    });
};
