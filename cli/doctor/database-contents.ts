/** Whether a database is that of this cluster, and of these encryption keys. */
import type { Cluster } from "../../controller/cluster/port.ts";
import type { Db } from "../../store/database/change.ts";
import { StoreError } from "../../store/database/errors.ts";
import { declaredClusters } from "../../store/declared-clusters.ts";
import { checkKeyring } from "../../store/encryption-key.ts";
import { parseKeyring } from "../../store/keyring.ts";
import { type Finding, note, wrong } from "./finding.ts";

/** Rows of a cluster that this one may have taken the place of: no controller collects them. */
export async function findOtherClusters({ uid }: Pick<Cluster, "uid">, db: Db): Promise<Finding[]> {
  const clusters = await declaredClusters(db);
  const isKnown = clusters.some((one) => one.cluster === uid);
  return clusters
    .filter((one) => one.cluster !== uid && one.keys > 0)
    .map(({ cluster: other, keys }) =>
      isKnown
        ? note(
            `${keys} keys belong to the cluster ${other}: if this one has replaced it, revoke them: keyplane get keys`,
          )
        : wrong(
            `the database has ${keys} keys of the cluster ${other}, and nothing of this one, ${uid}: if this is the other's database, give the right --database-url; if this cluster has replaced it, those keys work until they are revoked (keyplane get keys), and each declaration gets a new one`,
          ),
    );
}

/** Whether the keys that servers and controllers are started with are those of the database. */
export async function findEncryptionKeys(db: Db, keys: string | undefined): Promise<Finding[]> {
  if (keys === undefined) return [];
  try {
    await checkKeyring(db, parseKeyring(keys));
    return [];
  } catch (error) {
    if (error instanceof StoreError) return [wrong(error.message)];
    throw error;
  }
}
