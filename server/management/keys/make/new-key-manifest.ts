import type { Tx } from "../../../../store/database/change.ts";
import { hasDeclaredKey } from "../../../../store/keys/rows/declared-key.ts";
import type { Rights } from "../../rights.ts";
import type { CreateKeyBody } from "../request/request-schemas.ts";
import { boundNames, declarableIn } from "../shown/export-key.ts";
import { declarableSpec, platformKey, undeclaredReferences } from "../shown/key-manifest.ts";
import { planNewKey } from "./plan-new-key.ts";

/**
 * The manifest that would make the key which is asked for. It has no secret, and no digest of one. Nothing is made.
 *
 * @returns also what is to be declared before it, as `MemoryLibrary handbook`; without a namespace where the key's team
 *   holds none in a cluster; and the declaration that has the name there, whose key it would change
 * @throws Problem `invalid`, `forbidden`, `exists`, `conflict`, as making the key would
 */
export async function newKeyManifest(
  tx: Tx,
  rights: Rights,
  asked: Pick<CreateKeyBody, "name" | "namespace" | "team" | "spec">,
) {
  const { name } = asked;
  const { teamId, spec, policy } = await planNewKey(tx, rights, asked);
  const key = { name, spec, ...(await boundNames(tx, policy)) };
  const [namespace] = await declarableIn(tx, teamId);
  const isTaken = namespace !== undefined && (await hasDeclaredKey(tx, { teamId, namespace, name }));
  const metadata = namespace === undefined ? { name } : { name, namespace };
  return {
    manifest: platformKey(metadata, declarableSpec(key, namespace ?? "")),
    undeclared: undeclaredReferences(key),
    namespace,
    declared: isTaken ? `${namespace}/${name}` : undefined,
  };
}
