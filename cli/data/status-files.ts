import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readJson } from "../../controller/cluster/files/disk.ts";
import { findCondition } from "../../domain/conditions.ts";
import type { Kind, Spec, Status } from "../../domain/kinds/kinds.ts";
import type { Labels } from "../../domain/manifest/document/labels.ts";
import { hasCode } from "../../runtime/error-code.ts";
import { assertDataFolder } from "./data-folder.ts";

/** Object as `keyplane up` writes it to its status file. */
export type StatusObject<K extends Kind> = {
  readonly metadata: {
    readonly name: string;
    /** Namespace; empty for a cluster-wide object. */
    readonly namespace: string;
    /** Uid; missing for a declaration that was never admitted. */
    readonly uid?: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly generation?: number;
    readonly labels?: Labels;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Spec<K> | undefined;
  readonly status?: Status<K> | undefined;
};

/**
 * Reads the status files of one kind, sorted by namespace and name.
 *
 * @throws UsageError if the folder is not a data folder of `keyplane up`
 */
export async function readStatusFiles<K extends Kind>(data: string, kind: K): Promise<StatusObject<K>[]> {
  await assertDataFolder(data);
  const root = join(data, "status");
  const objects: StatusObject<K>[] = [];
  // Not there before anything is declared.
  for (const namespace of (await listFolder(root)) ?? []) {
    const folder = join(root, namespace, kind);
    for (const file of (await listFolder(folder)) ?? []) {
      if (!file.endsWith(".json")) continue;
      const object = (await readJson(join(folder, file))) as StatusObject<K> | undefined;
      // Removed since the folder was listed: up goes on meanwhile.
      if (object === undefined) continue;
      objects.push({ ...object, metadata: { ...object.metadata, namespace: object.metadata.namespace ?? "" } });
    }
  }
  return objects;
}

/** Returns the condition that sums up the object: `Ready`, or else the condition that says why it was not admitted. */
export function readiness({ status }: { readonly status?: Status | undefined }) {
  return findCondition(status?.conditions, "Ready") ?? status?.conditions?.[0];
}

/** Lists a folder, sorted; undefined if it does not exist. */
async function listFolder(folder: string): Promise<string[] | undefined> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}
