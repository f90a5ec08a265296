import type { Environment } from "../../domain/environment.ts";
import { setting } from "../../runtime/settings.ts";
import type { CliCommand } from "../command/cli-command.ts";
import { UsageError } from "../command/usage-error.ts";
import { type ServerChoice, serverOptions } from "../management/management-client.ts";
import { dataSource } from "./data-source.ts";
import { serverSource } from "./server-source.ts";
import type { Source } from "./source.ts";

/** Flags that name a source. Each has a variable. */
export type SourceFlags = ServerChoice & {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
};

export function sourceOptions(command: CliCommand): CliCommand {
  return clusterOptions(serverOptions(command));
}

/** Source of declarations with their statuses: a data folder, or a cluster. */
export type DeclaredChoice =
  | { readonly from: "data"; readonly data: string }
  | { readonly from: "kubeconfig"; readonly kubeconfig: string | undefined; readonly context: string | undefined };
type Choice = DeclaredChoice | { readonly from: "server"; readonly server: string };

/** Flags that name a source of declarations. Each has a variable. */
export type DeclaredFlags = Pick<SourceFlags, "data" | "kubeconfig" | "context">;

export function declaredOptions(command: CliCommand): CliCommand {
  return clusterOptions(command.setting("--data <dir>", "the data folder of keyplane up"));
}

function clusterOptions(command: CliCommand): CliCommand {
  return command
    .setting("--kubeconfig <file>", "the kubeconfig of the cluster")
    .setting("--context <name>", "a context of that file, or else of kubectl's configuration");
}

/**
 * Chooses the source. A flag wins over a variable, whichever they are. kubectl's own configuration is used only if
 * `--context` names a context in it, since its current context is whatever cluster was used last.
 *
 * @throws UsageError if no source is named, or flags name several
 */
export function chooseSource(env: Environment, { server, ...flags }: SourceFlags): Choice {
  const isDeclared = declaredChoices(flags).length > 0;
  if (server !== undefined && isDeclared) throw severalSources("--server, --data and --kubeconfig");
  const asked = isDeclared ? undefined : setting(env, "server", server);
  if (asked !== undefined) return { from: "server", server: asked };
  return chooseDeclared(
    env,
    flags,
    "--data DIR of keyplane up, --server URL with a token, or --kubeconfig FILE of a cluster",
  );
}

/**
 * Chooses among folders and clusters only.
 *
 * @param ways flags that the error asks for if nothing is named
 */
export function chooseDeclared(
  env: Environment,
  flags: DeclaredFlags,
  ways = "--data DIR of keyplane up, or --kubeconfig FILE of a cluster",
): DeclaredChoice {
  const [choice, another] = declaredChoices(flags);
  if (another !== undefined) throw severalSources("--data and --kubeconfig");
  if (choice !== undefined) return choice;
  const [byVariable] = declaredChoices({
    data: setting(env, "data", undefined),
    kubeconfig: setting(env, "kubeconfig", undefined),
    context: setting(env, "context", undefined),
  });
  if (byVariable !== undefined) return byVariable;
  throw new UsageError(`say where to look: ${ways}`);
}

function severalSources(flags: string): UsageError {
  return new UsageError(`${flags} are ways to the same: give one of them`);
}

function declaredChoices({ data, kubeconfig, context }: DeclaredFlags): DeclaredChoice[] {
  return [
    ...(data === undefined ? [] : [{ from: "data", data } as const]),
    ...(kubeconfig === undefined && context === undefined
      ? []
      : [{ from: "kubeconfig", kubeconfig, context } as const]),
  ];
}

/**
 * Opens the source.
 *
 * @throws UsageError as {@link chooseSource}, and if the named source is not what its flag says
 */
export async function openSource(env: Environment, flags: SourceFlags): Promise<Source> {
  const choice = chooseSource(env, flags);
  if (choice.from !== "server") return openDeclared(choice);
  return serverSource(env, { server: choice.server, tokenFile: flags.tokenFile });
}

export async function openDeclared(choice: DeclaredChoice): Promise<Source> {
  if (choice.from === "data") return dataSource(choice.data);
  // Only here: the Kubernetes client takes a second to load, which no other command should wait for.
  const { kubernetesSource } = await import("./kubernetes-source.ts");
  return kubernetesSource(choice);
}
