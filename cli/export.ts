import { Option } from "commander";
import type { AddCommand } from "./command/command.ts";
import { openManagement, type ServerChoice, serverOptions } from "./management/management-client.ts";
import { findNamedKey, NAMED_KEY } from "./management/named-key.ts";
import { outputText, type StructuredFormat } from "./output/output.ts";

type Flags = ServerChoice & { readonly namespace?: string; readonly output: StructuredFormat };

/** Adds `keyplane export`, which prints what the console's `Export as manifest` gives. */
export const addExport: AddCommand = (program, { env, out }) => {
  serverOptions(
    program
      .command("export")
      .description("print the manifest that takes over a key made by hand, once applied")
      .argument("<key>", NAMED_KEY),
  )
    .example("keyplane export key_0abc --data .keyplane > reader.yaml", "write the manifest of one key to a file")
    .option("--namespace <name>", "the namespace to declare it in; without, its team's first")
    .addOption(new Option("-o, --output <format>", "the output format").choices(["yaml", "json"]).default("yaml"))
    .action(async (named: string, { namespace, output, ...flags }: Flags) => {
      const client = await openManagement(env, flags);
      const { id } = await findNamedKey(client, named);
      const manifest = await client.exportKey(id, namespace);
      out(outputText(manifest, output));
    });
};
