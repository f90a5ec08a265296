import { type RawBuilder, sql } from "kysely";
import type { NamedRef } from "../../../domain/key/declaration/declared-key.ts";
import type { Db } from "../../database/change.ts";
import { preparedStatement } from "../../database/prepared-statement.ts";
import { rowsAsJson } from "../../database/rows-as-json.ts";
import { type ClusterName, type ClusterNames, clusterNameRows, namesByCluster } from "../../objects/cluster-names.ts";
import { type NamedRow, namedRows, refsById } from "../../objects/references.ts";
import { namesById, offeredNames, offeredTeamRows, type TeamName, teamNameRows } from "../../teams/team-names.ts";
import type { ListedKey } from "./key-lists.ts";

/** Names of the objects that keys refer to by id. */
export type KeyNames = {
  readonly teams: ReadonlyMap<string, string>;
  /** Gateways of declared keys. A key that was made here has the names in its specification. */
  readonly gateways: ReadonlyMap<string, NamedRef>;
  readonly libraries: ReadonlyMap<string, NamedRef>;
};

type KeyNameRows = {
  readonly teams: readonly TeamName[];
  readonly gateways: readonly NamedRow[];
  readonly libraries: readonly NamedRow[];
};

/** Reads the names that keys are shown by, in one statement: a further one costs an iteration of a busy event loop. */
export async function readKeyNames(db: Db, keys: readonly ListedKey[]): Promise<KeyNames> {
  return toKeyNames(await readRow<KeyNameRows>(db, keyNameColumns(keys)));
}

/** Names that a list of keys shows, besides those of its keys. */
export type KeyListNames = KeyNames & {
  readonly clusters: ClusterNames;
  /** Teams to choose from, in the order of their names. */
  readonly offered: readonly string[];
};

/**
 * Reads the names for a list of keys, in one statement.
 *
 * @param teamIds teams that may be offered; undefined for every team
 */
export async function readKeyListNames(
  db: Db,
  keys: readonly ListedKey[],
  teamIds: readonly string[] | undefined,
): Promise<KeyListNames> {
  type Row = KeyNameRows & { readonly clusters: readonly ClusterName[]; readonly offered: readonly { name: string }[] };
  const row = await readRow<Row>(
    db,
    sql`${keyNameColumns(keys)}, ${rowsAsJson(clusterNameRows)} as clusters,
      ${rowsAsJson(offeredTeamRows(teamIds))} as offered`,
  );
  return {
    ...toKeyNames(row),
    clusters: namesByCluster(row.clusters),
    offered: offeredNames(row.offered),
  };
}

async function readRow<Row>(db: Db, columns: RawBuilder<unknown>): Promise<Row> {
  const { rows } = await sql<Row>`${preparedStatement} select ${columns}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("the database returned no row where there is always one");
  return row;
}

function keyNameColumns(keys: readonly ListedKey[]): RawBuilder<unknown> {
  const declared = keys.filter(({ spec }) => spec === null).map(({ policy }) => policy);
  const gatewayIds = unique(declared.map(({ boundGatewayId }) => boundGatewayId));
  const libraryIds = unique(
    declared.flatMap(({ libraryIds, mcpDefaultLibraryId }) => [...(libraryIds ?? []), mcpDefaultLibraryId]),
  );
  return sql`${rowsAsJson(teamNameRows(unique(keys.map(({ teamId }) => teamId))))} as teams,
    ${rowsAsJson(namedRows("gateways", gatewayIds))} as gateways,
    ${rowsAsJson(namedRows("libraries", libraryIds))} as libraries`;
}

function toKeyNames({ teams, gateways, libraries }: KeyNameRows): KeyNames {
  return { teams: namesById(teams), gateways: refsById(gateways), libraries: refsById(libraries) };
}

function unique(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.flatMap((id) => id || []))];
}
