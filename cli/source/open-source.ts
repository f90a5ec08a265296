import type { Environment } from "../../domain/environment.ts";
import type { CliCommand } from "../cli-command.ts";
import { setting } from "../config.ts";
import { type ServerChoice, serverOptions } from "../management/management-client.ts";
import { UsageError } from "../usage-error.ts";
import { dataSource } from "./data-source.ts";
import { serverSource } from "./server-source.ts";
import type { Source } from "./source.ts";

/** The flags that name a source; each has its variable. */
export type SourceFlags = ServerChoice & {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
};

export function sourceOptions(command: CliCommand): CliCommand {
  return serverOptions(command)
    .setting("--kubeconfig <file>", "the cluster that this file names, as kubectl reaches it")
    .setting("--context <name>", "a context of that file; without --kubeconfig, of kubectl's own configuration");
}

type Choice =
  | { readonly from: "data"; readonly data: string }
  | { readonly from: "server"; readonly server: string }
  | { readonly from: "kubeconfig"; readonly kubeconfig: string | undefined; readonly context: string | undefined };

/**
 * Which source is meant. A flag says more than a variable, whichever it is. kubectl's own configuration is taken only
 * where --context asks for it: it leads to whatever cluster was worked on last.
 *
 * @throws UsageError where none is named, or flags name several
 */
export function chooseSource(env: Environment, flags: SourceFlags): Choice {
  const [choice, another] = choices(flags);
  if (another !== undefined) {
    throw new UsageError("--server, --data and --kubeconfig are ways to the same: give one of them");
  }
  if (choice !== undefined) return choice;
  const [byVariable] = choices({
    server: setting(env, "server", undefined),
    data: setting(env, "data", undefined),
    kubeconfig: setting(env, "kubeconfig", undefined),
    context: setting(env, "context", undefined),
  });
  if (byVariable !== undefined) return byVariable;
  throw new UsageError(
    "say where to look: --data DIR of keyplane up, --server URL with a token, or --kubeconfig FILE of a cluster",
  );
}

function choices({ server, data, kubeconfig, context }: SourceFlags): Choice[] {
  return [
    ...(server === undefined ? [] : [{ from: "server", server } as const]),
    ...(data === undefined ? [] : [{ from: "data", data } as const]),
    ...(kubeconfig === undefined && context === undefined
      ? []
      : [{ from: "kubeconfig", kubeconfig, context } as const]),
  ];
}

/** @throws UsageError as {@link chooseSource}, and for what is not what its flag says */
export async function openSource(env: Environment, flags: SourceFlags): Promise<Source> {
  const choice = chooseSource(env, flags);
  if (choice.from === "data") return dataSource(choice.data);
  if (choice.from === "server") return serverSource(env, { server: choice.server, tokenFile: flags.tokenFile });
  // Only here: the Kubernetes client takes a second to load, which no other command should wait for.
  const { kubernetesSource } = await import("./kubernetes-source.ts");
  return kubernetesSource(choice);
}
