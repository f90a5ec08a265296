import type { Tx } from "../../../../store/database/change.ts";
import { hasDeclaredKey } from "../../../../store/keys/rows/declared-key.ts";
import type { Rights } from "../../rights.ts";
import type { CreateKeyBody } from "../request/request-schemas.ts";
import { boundNames, declarableIn } from "../shown/export-key.ts";
import { declarableSpec, platformKey, undeclaredReferences } from "../shown/key-manifest.ts";
import { planNewKey } from "./plan-new-key.ts";

/**
 * Returns the manifest that would make the requested key, without a secret or its digest. Makes nothing.
 *
 * @returns also objects that have to be declared before it, such as `MemoryLibrary handbook`; the namespace, undefined
 * if the key's team holds none in a cluster; and the declaration that has the name there, whose key the manifest would
 * change
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
