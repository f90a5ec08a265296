/**
 * What is wrong with an installation on Kubernetes: it is read with the rights of whoever asks, and nothing is changed.
 */
import { randomUUID } from "node:crypto";
import type { KubernetesCluster } from "../../controller/cluster/kubernetes/cluster.ts";
import type { Environment } from "../../domain/environment.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { Db } from "../../store/database/change.ts";
import { assertSchemaVersion } from "../../store/database/migrate.ts";
import { openPostgres } from "../../store/database/postgres.ts";
import { required } from "../command.ts";
import { encryptionKeys, namespaceList, setting } from "../config.ts";
import { findAfterRestore } from "./after-restore.ts";
import { checkBootstrapToken } from "./bootstrap-token.ts";
import { findEncryptionKeys, findOtherClusters } from "./database-contents.ts";
import type { Finding } from "./finding.ts";
import { findNeglected } from "./neglected-keys.ts";

export type KubernetesFlags = {
  readonly databaseUrl?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly controllerNamespace?: string | undefined;
  readonly namespaces?: string | undefined;
  readonly encryptionKeyFile?: string | undefined;
  readonly afterRestore?: true;
};

/** Where infra/rbac has the controllers run. */
const CONTROLLER_NAMESPACE = "keyplane-system";

export async function checkKubernetes(flags: KubernetesFlags, env: Environment): Promise<Finding[]> {
  const databaseUrl = required(env, "database-url", flags.databaseUrl);
  const namespaces = namespaceList(setting(env, "namespaces", flags.namespaces));
  const leaseNamespace = setting(env, "controller-namespace", flags.controllerNamespace) ?? CONTROLLER_NAMESPACE;
  // Only here: the Kubernetes client takes a second to load, which no other command should wait for.
  const { openKubernetesCluster } = await import("../../controller/cluster/kubernetes/cluster.ts");
  const store = await openPostgres(databaseUrl);
  try {
    await assertSchemaVersion(store);
    const cluster = await openKubernetesCluster({
      kubeconfig: setting(env, "kubeconfig", flags.kubeconfig),
      namespaces,
      clock: systemClock,
      random: Math.random,
      log: () => {},
      fieldManager: "keyplane-doctor",
      identity: randomUUID(),
    });
    try {
      const keys = await encryptionKeys(env, flags.encryptionKeyFile);
      const ofDatabase = [
        ...(await findEncryptionKeys(store.db, keys)),
        ...(await findOtherClusters(cluster, store.db)),
      ];
      return [...ofDatabase, ...(await check(cluster, store.db, leaseNamespace, flags.afterRestore === true))];
    } finally {
      await cluster.close();
    }
  } finally {
    await store.close();
  }
}

async function check(
  cluster: KubernetesCluster,
  db: Db,
  leaseNamespace: string,
  isRestored: boolean,
): Promise<Finding[]> {
  const neglected = await findNeglected(cluster, db, leaseNamespace);
  const found = [...neglected, ...(await checkBootstrapToken(db))];
  if (!isRestored) return found;
  await cluster.watch(() => {}, new AbortController().signal);
  return [...found, ...(await findAfterRestore(cluster, db))];
}
