import { subjectText } from "../domain/access/subject.ts";
import type { Environment } from "../domain/environment.ts";
import { statedFacts } from "../domain/key/declaration/facts.ts";
import type { Whoami } from "../server/whoami/whoami.ts";
import type { AddCommand } from "./command/command.ts";
import { callApi } from "./management/api-call.ts";
import { askAsKey, type KeyChoice, openAsKey, refuseArguments } from "./management/key-client.ts";
import { type Fact, formatFacts } from "./output/facts.ts";
import { limitsText } from "./output/limits-text.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";

type Flags = KeyChoice & { readonly output?: StructuredFormat };

export const addWhoami: AddCommand = (program, { env, out }) => {
  const command = askAsKey(program.command("whoami").description("ask a server what a key is and may do"))
    .addOption(outputOption())
    .example("keyplane whoami --key-file key --server https://keys.example.com", "what the key in a file may do")
    .example("pass keyplane/reader | keyplane whoami --key-file - --data .keyplane", "a key from a pipe")
    .allowExcessArguments()
    .action(async (flags: Flags) => {
      refuseArguments("whoami", command.args);
      out(await runWhoami(env, flags));
    });
};

async function runWhoami(env: Environment, { output, ...choice }: Flags): Promise<string> {
  const found = await callApi<Whoami>(await openAsKey(env, choice), "GET", "whoami");
  return output === undefined ? formatFacts(factsOf(found)) : outputText(found, output);
}

function factsOf(key: Whoami): Fact[] {
  const { namespace, name, prefix, limits, version } = key;
  const uses = (product: string) => key.scopes.some((scope) => scope.startsWith(product));
  return [
    ["Key", `${namespace === "" ? "" : `${namespace}/`}${name}${prefix === null ? "" : ` (${prefix}...)`}`],
    ["Display name", key.displayName === name ? undefined : key.displayName || undefined],
    ...statedFacts(key),
    ["Id", key.id],
    ["Team", key.team],
    ["Scopes", key.scopes],
    ...(uses("memory:") ? libraryFacts(key) : []),
    ...(uses("gateway:") ? gatewayFacts(key) : []),
    ["Networks", key.allowedCIDRs ?? undefined],
    ["Networks of the team", key.teamAllowedCIDRs ?? undefined],
    ["Limits", limitsText(limits)],
    ["Limits of the team", key.teamLimits === null ? undefined : limitsText(key.teamLimits)],
    [
      "Version",
      `${version.number}, ${version.state}${version.mintedAt === null ? "" : `, minted ${version.mintedAt}`}`,
    ],
    ["Retires", version.retiresAt ?? undefined],
    ["Expires", key.expiresAt ?? "never"],
  ];
}

function libraryFacts({ libraryAccess, subjectAccess, defaultLibrary }: Whoami): Fact[] {
  return [
    ["Libraries", libraryAccess.libraries ?? "all of the team's"],
    ["Default library", defaultLibrary ?? undefined],
    ["Memory of", subjectAccess ? subjectText(subjectAccess) : undefined],
  ];
}

function gatewayFacts({ gateway, allowedModels }: Whoami): Fact[] {
  return [
    ["Gateway", gateway === null ? "any of the team's" : gateway || "<none>: the one that it is bound to is gone"],
    ["Models", allowedModels ?? "any"],
  ];
}
