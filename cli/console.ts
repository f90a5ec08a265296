import type { Environment } from "../domain/environment.ts";
import type { AddCommand } from "./command.ts";
import { openManagement, type ServerChoice, serverOptions } from "./management/management-client.ts";

export const addConsole: AddCommand = (program, { env, out }) => {
  serverOptions(
    program
      .command("console")
      .description("print a link that signs in to the console as the installation itself, once within ten minutes"),
  )
    .example("keyplane console --data .keyplane", "a link to the console of keyplane up")
    .action((flags) => runConsole(flags, env, out));
};

/** `keyplane console`: prints a new one-time link, and nothing else. */
export async function runConsole(flags: ServerChoice, env: Environment, out: (line: string) => void): Promise<void> {
  const client = await openManagement(env, flags);
  out(await client.makeConsoleLink());
}
