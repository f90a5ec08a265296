import type { Environment } from "../../domain/environment.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { setting } from "../../runtime/settings.ts";
import type { AddCommand } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { serverUrl } from "../management/api-call.ts";
import { urlOfRunning } from "../management/management-client.ts";
import { outputOption, outputText, type StructuredFormat } from "../output/output.ts";
import { findOne, wantedOf } from "../source/find-one.ts";
import {
  chooseDeclared,
  type DeclaredChoice,
  type DeclaredFlags,
  declaredOptions,
  openDeclared,
} from "../source/open-source.ts";
import { findGateway } from "./find-gateway.ts";
import { variablesOf } from "./key-variables.ts";
import { readingCommand, secretOf } from "./secret-location.ts";

type Flags = DeclaredFlags & {
  readonly namespace?: string;
  readonly server?: string;
  readonly gateway?: string;
  readonly output?: StructuredFormat;
};

/**
 * Adds `keyplane env`, which prints the variables that programs read about a key and its server, for a shell. The key
 * itself is in none of them: they hold the command that reads it from its Secret.
 */
export const addEnv: AddCommand = (program, { env, out }) => {
  declaredOptions(
    program
      .command("env")
      .description("print the variables that SDKs read, for a shell to evaluate; the output lacks the key itself")
      .argument("<key>", "NAME or NAMESPACE/NAME"),
  )
    .option("-n, --namespace <name>", "its namespace, where the name is ambiguous")
    .setting("--server <url>", "the server's URL for clients", "that of keyplane up; required with a cluster")
    .option("--gateway <name>", "the gateway, as NAME or NAMESPACE/NAME, for a key that is bound to none")
    .addOption(outputOption())
    .example('eval "$(keyplane env team-a/reader --data .keyplane)"', "set them in this shell")
    .example(
      "keyplane env team-a/reader --context prod --server https://keys.example.com",
      "print them for a key in a cluster",
    )
    .action(async (named: string, { namespace, server, gateway, output, ...flags }: Flags) => {
      const choice = chooseDeclared(env, flags);
      const source = await openDeclared(choice);
      try {
        const key = await findOne(source, "PlatformKey", wantedOf(named, namespace));
        const secret = secretOf(key);
        const url = await publicUrl(choice, server, env);
        const { urls, keys, unset } = variablesOf(await findGateway(source, key, gateway), url);
        const read = `"$(${readingCommand(choice, secret)})"`;
        const lines = [
          ...Object.entries(urls).map(([name, value]) => `export ${name}=${shellWord(value)}`),
          ...keys.map((name) => `export ${name}=${read}`),
          ...unset.map((name) => `unset ${name}`),
        ];
        out(output === undefined ? lines.join("\n") : outputText({ urls, keys, secret }, output));
      } finally {
        source.close();
      }
    });
};

/**
 * Returns the URL of the server for clients.
 *
 * @throws UsageError for a cluster without `--server`, since a cluster does not say it
 */
async function publicUrl(choice: DeclaredChoice, server: string | undefined, env: Environment): Promise<string> {
  const given = choice.from === "data" ? server : setting(env, "server", server);
  if (given !== undefined) return serverUrl("server", given);
  if (choice.from === "data") return urlOfRunning(choice.data);
  throw new UsageError("--server is needed, or the variable KEYPLANE_SERVER: where clients reach the server");
}
