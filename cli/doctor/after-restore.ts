/** Checks after a restore of a cluster or database: what only a person can decide about, and what to do. */

import type { Cluster } from "../../controller/cluster/port.ts";
import { titleOf } from "../../controller/cluster/titles.ts";
import { COLLECTED } from "../../controller/garbage-collection.ts";
import { findCondition } from "../../domain/conditions.ts";
import { exceedsDeletionLimit } from "../../domain/garbage-collection.ts";
import { KINDS } from "../../domain/kinds/kinds.ts";
import type { Db } from "../../store/database/change.ts";
import { listKeys } from "../../store/keys/search/key-lists.ts";
import { findOrphans } from "../../store/orphans.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";

const PAGE = 500;
const ENDED_SINCE = note(
  "restore",
  "what was ended by hand or by a report of a leak after a backup of the database is back with it",
  "do it again: keyplane revoke NAMESPACE/NAME, rotate --revoke-old, revoke-subject, memory-erase-subject, or report the leak",
);

/**
 * Compares a Kubernetes cluster with its database, and changes neither.
 *
 * @param cluster cluster whose objects have been listed
 */
export async function findAfterRestore(cluster: Cluster, db: Db): Promise<Finding[]> {
  const findings = [
    ...(await findOrphaned(cluster, db)),
    ...(await findRevived(cluster, db)),
    ...findOutdated(cluster),
  ];
  return [...(findings.length > 0 ? findings : [ok("restore", "the cluster and the database agree")]), ENDED_SINCE];
}

/** Finds objects in the database that no declaration owns. */
async function findOrphaned(cluster: Cluster, db: Db): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { kind } of COLLECTED) {
    const listed = cluster.listedNamespaces(kind);
    if (listed?.length === 0) {
      const step = "kubectl apply --server-side -f crds/ && kubectl apply -f infra/rbac/controller.yaml";
      findings.push(wrong("custom-resources", `nothing is known of any ${kind}`, step));
      continue;
    }
    const { orphans, total } = await findOrphans(db, kind, {
      cluster: cluster.uid,
      namespaces: listed,
      uids: cluster.uids(kind),
    });
    const isPaused = exceedsDeletionLimit(orphans.length, total);
    const finding = isPaused ? wrong : note;
    if (isPaused) {
      const message = `${orphans.length} of ${total} ${kind} have no declaration: garbage collection is paused`;
      findings.push(wrong("garbage-collection", message, "apply their declarations again, or end them one by one"));
    }
    for (const { id, namespace, name, isRetained } of orphans) {
      const title = titleOf({ kind, namespace, name });
      const isBack = cluster.list(kind).some((one) => one.namespace === namespace && one.name === name);
      const what = isBack ? "was restored with another uid" : "has no declaration any more";
      const then = isPaused ? stepFor(kind, id) : isRetained ? releasedStep(id) : ENDED_STEP;
      findings.push(finding("orphans", `${title} ${what}`, then));
    }
  }
  return findings;
}

const ENDED_STEP = "the controller ends what it stood for within a minute";

function releasedStep(id: string): string {
  return `its key ${id} works on (deletionPolicy: Retain); to end it: keyplane revoke ${id}`;
}

function stepFor(kind: string, id: string): string {
  if (kind === "PlatformKey") return `its key ${id} works until it is revoked: keyplane revoke ${id}`;
  return "restore its declaration, or remove others that are gone until fewer are left";
}

/** Finds declarations that had been deleted and are back by the restore. */
async function findRevived(cluster: Cluster, db: Db): Promise<Finding[]> {
  const present = new Set(cluster.uids("PlatformKey"));
  const state = { is: "revoked", at: Date.now() } as const;
  const findings: Finding[] = [];
  for (let afterId: string | undefined; ; ) {
    const keys = await listKeys(db, { cluster: cluster.uid, state, afterId, limit: PAGE });
    for (const { namespace, name, ownerUid, revocation } of keys) {
      const reason = revocation?.reason;
      if (ownerUid === null || !present.has(ownerUid) || (reason !== "Deleted" && reason !== "Orphaned")) continue;
      const step = "delete it, and apply it again if a new key is wanted";
      findings.push(
        wrong(
          "revived-declarations",
          `PlatformKey ${namespace}/${name} was gone before the restore, and its key stays revoked`,
          step,
        ),
      );
    }
    afterId = keys.at(-1)?.id;
    if (keys.length < PAGE) return findings;
  }
}

/** Finds declarations that are older than what was applied from them last. */
function findOutdated(cluster: Cluster): Finding[] {
  return KINDS.flatMap((kind) => [...cluster.list(kind)]).flatMap(({ kind, namespace, name, status }) => {
    const ready = findCondition(status?.conditions, "Ready");
    if (ready?.reason !== "Outdated") return [];
    const message = `${titleOf({ kind, namespace, name })}: ${ready.message}`;
    return [wrong("outdated-declarations", message, "change and apply the newer declaration as many times")];
  });
}
