import { isScope, SCOPES } from "../domain/access/scopes.ts";
import type { Environment } from "../domain/environment.ts";
import type { Access, AccessQuestion } from "../server/management/keys/access/review-access.ts";
import type { AddCommand } from "./command/command.ts";
import { UsageError } from "./command/usage-error.ts";
import { callApi } from "./management/api-call.ts";
import { type KeyChoice, keyOption, openAsKey, refuseArguments } from "./management/key-client.ts";
import { openManagement, type ServerChoice, serverOptions } from "./management/management-client.ts";
import { findNamedKey } from "./management/named-key.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";
import { plainText } from "./output/plain-text.ts";

type Flags = KeyChoice &
  ServerChoice &
  Omit<AccessQuestion, "scope"> & { readonly asKey?: string; readonly output?: StructuredFormat };

export const addCanI: AddCommand = (program, { env, out, exit }) => {
  const command = keyOption(
    serverOptions(
      program
        .command("can-i")
        .description("ask a server whether a key may use a scope now; exit with 1 if not")
        .argument("<scope>", SCOPES.join(", ")),
    ),
  )
    .option("--as-key <key>", "instead of --key-file: NAMESPACE/NAME or id of a key; needs a token")
    .option("--gateway <id>", "with a gateway scope: the gateway's public id")
    .option("--model <name>", "with --gateway: the model or logical route")
    .option("--library <name>", "with a memory scope: the library, as NAME or NAMESPACE/NAME")
    .addOption(outputOption())
    .suggest(...SCOPES)
    .example(
      "keyplane can-i memory:write --library handbook --key-file key --server https://keys.example.com",
      "whether the key in a file may write there",
    )
    .example(
      "keyplane can-i gateway:generate --gateway main --model gpt-5 --as-key team-a/reader",
      "whether another person's key may use that model; KEYPLANE_SERVER is set",
    )
    .allowExcessArguments()
    .action(async (scope: string, { output, ...flags }: Flags) => {
      refuseArguments("can-i", command.args.slice(1));
      const { allowed, reason } = await ask(env, questionOf(scope, flags), flags);
      out(
        output === undefined
          ? plainText(`${allowed ? "yes" : "no"}: ${reason}`)
          : outputText({ allowed, reason }, output),
      );
      if (!allowed) exit(1);
    });
};

/**
 * Makes the question from the arguments.
 *
 * @throws UsageError for flags that do not belong together, and for an unknown scope. The message does not repeat it,
 *   as it may be a key
 */
function questionOf(scope: string, { gateway, model, library }: Flags): AccessQuestion {
  if (!isScope(scope)) throw new UsageError(`can-i: there is no such scope: write one of ${SCOPES.join(", ")}`);
  const isGateways = scope.startsWith("gateway:");
  if (isGateways && gateway === undefined)
    throw new UsageError(`can-i ${scope}: say at which gateway with --gateway ID`);
  if (isGateways && library !== undefined) throw new UsageError("--library is for the scopes of the memory");
  if (!isGateways && (gateway ?? model) !== undefined) {
    throw new UsageError("--gateway and --model are for the scopes of a gateway");
  }
  return { scope, ...(gateway && { gateway }), ...(model && { model }), ...(library && { library }) };
}

async function ask(env: Environment, question: AccessQuestion, flags: Flags): Promise<Access> {
  if (flags.asKey === undefined) {
    return callApi(await openAsKey(env, flags), "GET", `whoami/access?${new URLSearchParams(question)}`);
  }
  if (flags.keyFile !== undefined) throw new UsageError("--key-file and --as-key name two keys: give one of them");
  const client = await openManagement(env, flags);
  return client.reviewAccess((await findNamedKey(client, flags.asKey)).id, question);
}
