/** Database, and the keys to compare with it, for checks of the installation that uses it. */
import type { Cluster } from "../../controller/cluster/port.ts";
import type { Db } from "../../store/database/change.ts";
import { StoreError } from "../../store/database/errors.ts";
import { declaredClusters } from "../../store/declared-clusters.ts";
import { checkKeyring } from "../../store/encryption/encryption-key.ts";
import type { Keyring } from "../../store/encryption/keyring.ts";
import { livingLeaks } from "../../store/keys/events/key-leaks.ts";
import { type ReplicaHealth, replicaHealth } from "../../store/replicas/replica-health.ts";
import { replicasWithSpareToken } from "../../store/replicas/replicas.ts";
import { countRestoredSessions } from "../../store/sessions/sessions.ts";
import { UsageError } from "../command/usage-error.ts";
import { type Check, type Finding, note, ok, wrong } from "./finding.ts";
import { checkGatewayCredentials } from "./gateway-credentials.ts";
import { judgeClocks } from "./judge-clock.ts";
import { checkSilentUpstreams } from "./silent-upstreams.ts";

type Contents = {
  readonly db: Db;
  /** Reads the encryption keys that are given; undefined if none are. Rejects if they are not valid. */
  readonly encryptionKeys: () => Promise<Keyring | undefined>;
};

export const CONTENT_CHECKS: readonly Check<Contents>[] = [
  checkEncryptionKeys,
  checkReplicas,
  checkBootstrapToken,
  checkLeaks,
  checkGatewayCredentials,
  checkSilentUpstreams,
  checkSessions,
];

/** Largest number of objects of a kind that findings name. */
const MAX_NAMED = 10;

/** Checks that the encryption keys that are given are those of the database. */
export async function checkEncryptionKeys({ db, encryptionKeys }: Contents): Promise<Finding[]> {
  try {
    const keyring = await encryptionKeys();
    if (keyring === undefined) return [];
    await checkKeyring(db, keyring);
    return [ok("encryption-key", "the encryption keys that are given are the database's")];
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof UsageError)) throw error;
    return [wrong("encryption-key", error.message, "give the right file by --encryption-key-file")];
  }
}

/** True if a server has missed a second sign of life, of five in a lease, and changes wait for it. */
function holdsUpChanges({ behind, silentMs, leaseMs }: ReplicaHealth): boolean {
  return behind > 0 && silentMs > (2 * leaseMs) / 5;
}

/** Checks the servers: which are alive, and which are silent and hold up changes that wait for them. */
export async function checkReplicas({ db }: Pick<Contents, "db">): Promise<Finding[]> {
  const all = await replicaHealth(db);
  const [silent, living] = [all.filter(({ mayServe }) => !mayServe), all.filter(({ mayServe }) => mayServe)];
  const findings = silent.map(({ id, silentMs }) =>
    wrong(
      "replicas",
      `the server ${id} gave no sign of life for ${Math.round(silentMs / 1_000)} s, and changes wait for it`,
      "see why it ended; another server that runs takes it out",
    ),
  );
  for (const { id, silentMs, leaseMs } of living.filter(holdsUpChanges)) {
    const message = `changes wait for the server ${id}, which gave no sign of life for ${Math.round(silentMs / 1_000)} s: until it does, or its lease of ${leaseMs / 1_000} s is over`;
    findings.push(note("replicas", message));
  }
  const lacking = living.filter(({ lacksKey }) => lacksKey !== null);
  for (const { id, lacksKey } of lacking) {
    const message = `the server ${id} does not have the encryption key ${lacksKey}, and cannot read what is stored under it`;
    findings.push(wrong("encryption-key", message, "start it with that key as a line of its --encryption-key-file"));
  }
  for (const { id, clockAheadMs } of living) {
    const judged = judgeClocks(`the server ${id}'s`, "the database's", clockAheadMs ?? 0);
    if (judged.severity !== "ok") findings.push(judged);
  }
  if (living.length === 0) {
    findings.push(wrong("replicas", "no server runs on this database", "keyplane server --database-url URL"));
  }
  return findings.length > 0 ? findings : [ok("replicas", `${living.length} of ${all.length} servers are alive`)];
}

/**
 * Reports a bootstrap token that is configured beside an issuer: it opens every team's keys, and belongs to no one
 * person.
 */
export async function checkBootstrapToken({ db }: Pick<Contents, "db">): Promise<Finding[]> {
  const replicas = await replicasWithSpareToken(db);
  if (replicas.length === 0) return [ok("bootstrap-token", "no bootstrap token stands beside an issuer")];
  const count = replicas.length === 1 ? "1 server takes" : `${replicas.length} servers take`;
  const message = `${count} a bootstrap token although an issuer is configured (${replicas.join(", ")})`;
  return [note("bootstrap-token", message, "once JWTs let people in, start them without --bootstrap-token-file")];
}

/** Reports keys that were reported as leaked and still work, because no person has decided about them yet. */
export async function checkLeaks({ db }: Pick<Contents, "db">): Promise<Finding[]> {
  const leaks = await livingLeaks(db);
  if (leaks.length === 0) return [ok("leaked-keys", "no key works on that was reported as leaked")];
  const findings = leaks.slice(0, MAX_NAMED).map(({ namespace, name, keyId }) => {
    const title = namespace === "" ? name : `${namespace}/${name}`;
    return wrong(
      "leaked-keys",
      `${title} was reported as leaked, and works still`,
      `keyplane rotate --revoke-old ${keyId}`,
    );
  });
  const more = leaks.length - MAX_NAMED;
  if (more > 0)
    findings.push(wrong("leaked-keys", `so do ${more} more keys`, "see them in the console, or GET /api/v1/keys"));
  return findings;
}

/** Reports sessions that came with a restored backup. None of them is accepted. */
export async function checkSessions({ db }: Pick<Contents, "db">): Promise<Finding[]> {
  const count = await countRestoredSessions(db);
  if (count === 0) return [];
  const message = `${count} sessions are another database's, which this was restored from, and are refused`;
  return [note("restored-sessions", message, "look at what else a restore leaves: keyplane doctor --after-restore")];
}

/** Finds rows of a cluster that this one may have replaced. No controller collects them. */
export async function findOtherClusters({ uid }: Pick<Cluster, "uid">, db: Db): Promise<Finding[]> {
  const clusters = await declaredClusters(db);
  const isKnown = clusters.some((one) => one.cluster === uid);
  return clusters
    .filter((one) => one.cluster !== uid && one.keys > 0)
    .map(({ cluster: other, keys }) =>
      isKnown
        ? note(
            "other-clusters",
            `${keys} keys belong to the cluster ${other}`,
            "if this one has replaced it, revoke them: keyplane get keys --server URL",
          )
        : wrong(
            "other-clusters",
            `the database has ${keys} keys of the cluster ${other}, and nothing of this one, ${uid}`,
            "if this is the other's database, give the right --database-url; if this cluster has replaced it, those keys work until they are revoked (keyplane get keys --server URL), and each declaration gets a new one",
          ),
    );
}
