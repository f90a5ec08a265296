import { API_CLUSTER } from "../../../../domain/api-cluster.ts";
import type { KeyPolicy } from "../../../../domain/key/declaration/key-policy.ts";
import { versionIn } from "../../../../domain/key/stored/stored-key.ts";
import type { Db } from "../../../../store/database/change.ts";
import { findKey } from "../../../../store/keys/rows/find-key.ts";
import { findInTeam, namesOf } from "../../../../store/objects/references.ts";
import { teamNames } from "../../../../store/teams/team-names.ts";
import { namespacesOfTeam } from "../../../../store/teams/teams.ts";
import { problem } from "../../../http/problems/problem.ts";
import { invalid } from "../../objects/diagnostics.ts";
import type { Rights } from "../../rights.ts";
import { requireApiManaged, requireKey, requireLiving, requireUnmanaged } from "../request/requirements.ts";
import {
  type ExportedKey,
  type KeyManifest,
  keyManifest,
  undeclaredNames,
  undeclaredReferences,
} from "./key-manifest.ts";

export type KeyExport = {
  readonly manifest: KeyManifest;
  /** Namespaces in which it may be declared: those that its team holds in its cluster. */
  readonly namespaces: readonly string[];
  /** Objects that have to be declared before it, such as `MemoryLibrary handbook`. */
  readonly undeclared: readonly string[];
};

/**
 * Returns the manifest by which a key that was made by hand is taken into declarations (docs/decisions/take-over.md).
 * It holds the digest of the version in use, which no other answer has: only a caller who may change the key gets it.
 *
 * @param chosen namespace; undefined for the first of the team's
 * @throws Problem `not_found`, `forbidden`, `managed`, `invalid` for a namespace that is not the team's, `conflict` for
 * a key that no declaration can take over as it is
 */
export async function exportKey(db: Db, rights: Rights, keyId: string, chosen: string | undefined): Promise<KeyExport> {
  const key = requireKey(await findKey(db, keyId), rights, "change keys");
  requireApiManaged(key);
  requireUnmanaged(key);
  requireLiving(key);
  const { id, name, spec, teamId, policy } = key;
  const active = versionIn(key, "active");
  if (active === undefined || spec === null) throw problem("conflict", "The key has no version in use.");
  const namespaces = await declarableIn(db, teamId);
  const [first] = namespaces;
  if (first === undefined) throw problem("conflict", await withoutNamespace(db, teamId));
  const namespace = chosen ?? first;
  if (!namespaces.includes(namespace)) {
    throw invalid([{ path: "namespace", message: `is none of the team's: write one of ${namespaces.join(", ")}` }]);
  }
  const exported: ExportedKey = {
    ...{ id, name, spec },
    hash: { sha256: Buffer.from(active.digest, "latin1").toString("hex"), prefix: active.prefix },
    ...(await boundNames(db, policy)),
  };
  await refuseNamesakes(db, teamId, namespace, exported);
  return {
    manifest: keyManifest(exported, namespace),
    namespaces,
    undeclared: undeclaredReferences(exported),
  };
}

/** Refuses a manifest that would bind the key to an object of the namespace with the same name, instead of its own. */
async function refuseNamesakes(db: Db, teamId: string, namespace: string, key: ExportedKey): Promise<void> {
  const undeclared = undeclaredNames(key);
  for (const table of ["gateways", "libraries"] as const) {
    const refs = undeclared[table].map((name) => ({ namespace, name }));
    const found = await findInTeam(db, table, teamId, refs);
    const namesake = refs.find((_, i) => found[i] !== "absent");
    if (namesake === undefined) continue;
    const noun = table === "gateways" ? "gateway" : "library";
    throw problem(
      "conflict",
      `The key is bound to a ${noun} ${namesake.name} that no manifest has declared, and its manifest would bind it to another one, ${namespace}/${namesake.name}. Bind the key to that first, or choose another namespace.`,
    );
  }
}

/** Reads the names of the gateway and the libraries that a key of this policy is bound to. */
export async function boundNames(
  db: Db,
  { boundGatewayId, libraryIds, mcpDefaultLibraryId }: KeyPolicy,
): Promise<Pick<ExportedKey, "gateways" | "libraries">> {
  const names = async (table: "gateways" | "libraries", ids: readonly (string | null)[]) => [
    ...(await namesOf(db, table, [...new Set(ids.flatMap((one) => one || []))])).values(),
  ];
  return {
    gateways: await names("gateways", [boundGatewayId]),
    libraries: await names("libraries", [...(libraryIds ?? []), mcpDefaultLibraryId]),
  };
}

/** Lists the namespaces in which keys of a team may be declared, the preferred namespace first. */
export async function declarableIn(db: Db, teamId: string): Promise<string[]> {
  const namespaces = await namespacesOfTeam(db, teamId);
  return namespaces.filter(({ cluster }) => cluster !== API_CLUSTER).map(({ namespace }) => namespace);
}

async function withoutNamespace(db: Db, teamId: string): Promise<string> {
  const team = (await teamNames(db, [teamId])).get(teamId) ?? teamId;
  return `Team ${team} holds no namespace of a cluster, and a PlatformKey needs one. Add a namespace to spec.namespaces of its PlatformTeam. A team that was made by the API has none: declare a PlatformTeam, and make its keys anew.`;
}
