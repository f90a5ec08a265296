/** Objects that a plan compares manifests with: a data folder of `up`, a cluster, other manifests, or nothing. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../domain/environment.ts";
import type { NamedRef } from "../../domain/key/declaration/declared-key.ts";
import { KINDS } from "../../domain/kinds/kinds.ts";
import { setting } from "../../runtime/settings.ts";
import type { CliCommand } from "../command/cli-command.ts";
import { UsageError } from "../command/usage-error.ts";
import { isRunning } from "../data/data-folder.ts";
import { readStatusFiles } from "../data/status-files.ts";
import { openManagement, type ServerChoice } from "../management/management-client.ts";
import type { KubernetesSource } from "../source/kubernetes-source.ts";
import { readBase } from "./base.ts";
import type { SecretPresence } from "./known-secrets.ts";
import type { Compared, CurrentObject } from "./make-plan.ts";
import type { KeyLookups } from "./planned-objects.ts";

export type ComparedFlags = {
  readonly data?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly base?: string | undefined;
  readonly server?: string | undefined;
  readonly tokenFile?: string | undefined;
};

export function comparedOptions(command: CliCommand): CliCommand {
  return command
    .setting(
      "--data <dir>",
      "compare with this data folder of keyplane up; without anything to compare with, all is new",
    )
    .setting("--kubeconfig <file>", "compare with a cluster; objects that the files lack stay")
    .setting("--context <name>", "a context of that file, or else of kubectl's configuration")
    .setting("--server <url>", "with a cluster: ask its server which recent callers would be refused; needs a token")
    .setting("--token-file <file>", "the token for --server; or set KEYPLANE_TOKEN")
    .option("--base <path>", "compare with these manifests");
}

/**
 * Opens what the manifests are compared with. A flag wins over a variable, whichever they are.
 *
 * @param now milliseconds since the epoch
 * @throws UsageError if flags name more than one thing to compare with, or if one does not exist
 */
export async function openCompared(env: Environment, flags: ComparedFlags, now: number): Promise<Compared> {
  const { data, kubeconfig, context, base, server, tokenFile } = flags;
  const given = [data, base, kubeconfig ?? context].filter((flag) => flag !== undefined);
  if (given.length > 1) {
    throw new UsageError("--data, --kubeconfig and --base are several things to compare with: give one of them");
  }
  const folder = given.length > 0 ? data : setting(env, "data", undefined);
  const cluster = given.length > 0 ? { kubeconfig, context } : clusterOf(env);
  const isCluster =
    base === undefined && folder === undefined && Object.values(cluster).some((one) => one !== undefined);
  if (server !== undefined && !isCluster) {
    throw new UsageError("--server goes with --kubeconfig or --context: it is the server of that cluster");
  }
  if (base !== undefined)
    return { held: readBase(base, now), isWhole: true, lookups: NOTHING_TO_ASK, findSecrets: unasked };
  if (folder !== undefined) {
    const held = await readFolder(folder);
    const findSecrets = async () => secretFolders(folder, held);
    return { held, data: folder, isWhole: true, lookups: await askServer(env, { data: folder }, folder), findSecrets };
  }
  if (!isCluster) {
    return { held: [], isWhole: true, lookups: NOTHING_TO_ASK, findSecrets: unasked };
  }
  const asked = setting(env, "server", server);
  const lookups = asked === undefined ? NOT_ASKED : await askServer(env, { server: asked, tokenFile });
  const findSecrets = (refs: readonly NamedRef[]) => findClusterSecrets(cluster, refs);
  return { held: await readCluster(cluster), isWhole: false, lookups, findSecrets };
}

type ClusterChoice = Pick<ComparedFlags, "kubeconfig" | "context">;

function clusterOf(env: Environment): ClusterChoice {
  return { kubeconfig: setting(env, "kubeconfig", undefined), context: setting(env, "context", undefined) };
}

/** Reads every object that `up` holds. */
async function readFolder(data: string): Promise<CurrentObject[]> {
  const kinds = KINDS.map(async (kind) => (await readStatusFiles(data, kind)).map((object) => ({ ...object, kind })));
  const objects: CurrentObject[] = (await Promise.all(kinds)).flat();
  return objects.filter(isHeld);
}

/** Finds no Secret outside the manifests: without a data folder or a cluster there is nowhere to look. */
const unasked = async (): Promise<SecretPresence> => () => undefined;

/** Returns a look-up of the Secrets that `up` has written, except those of the keys that it holds. */
function secretFolders(data: string, held: readonly CurrentObject[]): SecretPresence {
  const ofKeys = new Set(
    held.map(({ metadata, status }) => {
      const name = status !== undefined && "secretRef" in status ? status.secretRef?.name : undefined;
      return `${metadata.namespace}/${name}`;
    }),
  );
  return ({ namespace, name }) =>
    !ofKeys.has(`${namespace}/${name}`) && existsSync(join(data, "secrets", namespace, name));
}

function readCluster(choice: ClusterChoice): Promise<CurrentObject[]> {
  return fromCluster(choice, async (source) => {
    const objects: CurrentObject[] = (await Promise.all(KINDS.map((kind) => source.list(kind, {})))).flat();
    return objects.filter(isHeld);
  });
}

function findClusterSecrets(choice: ClusterChoice, refs: readonly NamedRef[]): Promise<SecretPresence> {
  return fromCluster(choice, async (source) => {
    const found = await Promise.all(
      refs.map(async (ref) => [`${ref.namespace}/${ref.name}`, await source.isSecretThere(ref)] as const),
    );
    const isThere = new Map(found);
    return ({ namespace, name }) => isThere.get(`${namespace}/${name}`);
  });
}

async function fromCluster<T>(choice: ClusterChoice, read: (source: KubernetesSource) => Promise<T>): Promise<T> {
  // Only here: the Kubernetes client takes a second to load, which no other command should wait for.
  const { kubernetesSource } = await import("../source/kubernetes-source.ts");
  const source = kubernetesSource(choice);
  try {
    return await read(source);
  } finally {
    source.close();
  }
}

/**
 * True if the object counts as held: it was admitted, and is not being deleted. A key is held until it is revoked: it
 * may be protected from its deletion, and work for as long as that waits.
 */
export function isHeld({ kind, metadata, spec, status }: CurrentObject): boolean {
  const isRevoked = status !== undefined && "revocation" in status && status.revocation !== undefined;
  return spec !== undefined && (metadata.deletionTimestamp === undefined || (kind === "PlatformKey" && !isRevoked));
}

/** Look-ups where no server has ever served the objects, so that nothing is known of any key. */
const NOTHING_TO_ASK: KeyLookups = { lastUsedAt: () => undefined, callersOf: () => undefined };
/** Look-ups where a server may know the keys, but was not asked. */
const NOT_ASKED: KeyLookups = { lastUsedAt: () => undefined, callersOf: () => "unknown" };

/**
 * Asks a server when each key was last used, and from where.
 *
 * @param data data folder of an `up` that may not be running
 */
async function askServer(env: Environment, choice: ServerChoice, data?: string): Promise<KeyLookups> {
  if (data !== undefined && !(await isRunning(data))) return NOT_ASKED;
  const keys = await openManagement(env, choice).then((client) => client.listKeys());
  const known = new Map(keys.map((key) => [key.id, key]));
  return {
    lastUsedAt(id) {
      const at = known.get(id)?.lastUsedAt;
      return typeof at === "string" ? Date.parse(at) : at;
    },
    // A server of an earlier version says nothing of networks.
    callersOf: (id) => known.get(id)?.lastNetworks ?? "unknown",
  };
}
