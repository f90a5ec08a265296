import type { Environment } from "../domain/environment.ts";
import type { AddCommand } from "./command/command.ts";
import { openManagement, type ServerChoice, serverOptions } from "./management/management-client.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";

type Flags = ServerChoice & { readonly output?: StructuredFormat };

export const addConsole: AddCommand = (program, { env, out }) => {
  serverOptions(
    program
      .command("console")
      .description("print a link that signs in to the console as the installation; it works once, for ten minutes"),
  )
    .addOption(outputOption())
    .example("keyplane console --data .keyplane", "a link to the console of keyplane up")
    .action((flags) => runConsole(flags, env, out));
};

/** Runs `keyplane console`: prints a new one-time link, and nothing else. */
export async function runConsole(
  { output, ...choice }: Flags,
  env: Environment,
  out: (line: string) => void,
): Promise<void> {
  const client = await openManagement(env, choice);
  const url = await client.makeConsoleLink();
  out(output === undefined ? url : outputText({ url }, output));
}
