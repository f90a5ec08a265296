import { csvLine } from "../../../../domain/csv.ts";
import { FACT_NAMES, factOf } from "../../../../domain/key/declaration/facts.ts";
import { commentLines, writeCommentedYaml } from "../../../../domain/manifest/document/write-yaml.ts";
import type { Db } from "../../../../store/database/change.ts";
import type { ClusterNames } from "../../../../store/objects/cluster-names.ts";
import { Problem, problem } from "../../../http/problems/problem.ts";
import { exportKey } from "../../../management/keys/shown/export-key.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import type { Rights } from "../../../management/rights.ts";
import { bindingsOf, leakedVersions, refName } from "../key-words.ts";

/**
 * Writes the manifests of keys into one file, as the page of each key exports them. Comments above name the keys
 * without a manifest, and why.
 *
 * @param names names of the keys that the caller sees, by their ids
 * @throws Problem `conflict` if no key has a manifest
 */
export async function manifestsOf(
  db: Db,
  rights: Rights,
  ids: readonly string[],
  names: ReadonlyMap<string, { readonly name: string }>,
): Promise<string> {
  const documents: string[] = [];
  const left: string[] = [];
  for (const id of ids) {
    try {
      const { manifest, undeclared } = await exportKey(db, rights, id, undefined);
      const top = undeclared.map((title) => `Declare first: ${title}`);
      documents.push(writeCommentedYaml(manifest, { top, fields: new Map() }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      left.push(`${names.get(id)?.name ?? id}: ${error.detail}`);
    }
  }
  if (documents.length === 0)
    throw problem("conflict", `None of these keys has a manifest to export. ${left.join(" ")}`);
  const head = left.length === 0 ? [] : [`Not exported: ${left.length}`, ...left];
  return `${commentLines(head)}${documents.join("---\n")}`;
}

const COLUMNS = [
  ...["Name", "Display name", "Team", ...FACT_NAMES.map((name) => factOf(name).label), "Prefix", "State", "Leaked"],
  ...["Scopes", "Bound to", "Last use", "Expires", "Declared in", "Cluster", "Id"],
];

/** First line of a CSV file of keys: the columns of the list. */
export const KEYS_CSV_HEAD = `${csvLine(COLUMNS)}\r\n`;

/** Writes keys as lines of CSV. A key that the caller does not see gets the state `not found`. */
export function keysCsv(ids: readonly string[], keys: ReadonlyMap<string, KeyJson>, clusters: ClusterNames): string {
  return ids.map((id) => `${csvLine(cellsOf(id, keys.get(id), clusters))}\r\n`).join("");
}

function cellsOf(id: string, key: KeyJson | undefined, clusters: ClusterNames): string[] {
  if (key === undefined) return COLUMNS.map((title) => (title === "Id" ? id : title === "State" ? "not found" : ""));
  const { declaredIn, released, managedBy } = key;
  const cluster = declaredIn?.cluster ?? "";
  const declared = declaredIn !== null || released ? refName(key) : (managedBy ?? "");
  return [
    ...[key.name, key.displayName, key.team, ...FACT_NAMES.map((name) => key.spec[name] ?? "")],
    ...[key.prefix ?? "", key.state],
    leakedVersions(key).length > 0 ? "yes" : "no",
    ...[key.scopes.join(" "), bindingsOf(key).join("; "), key.lastUsedAt ?? "", key.expiresAt ?? ""],
    ...[released ? `${declared} (released)` : declared, clusters.get(cluster) ?? cluster, id],
  ];
}
