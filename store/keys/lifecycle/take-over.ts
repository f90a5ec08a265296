import { sql } from "kysely";
import { decideTakeOver, type TakeOverRequest } from "../../../domain/key/observed/take-over.ts";
import type { KeyIdentity, KeySource } from "../../../domain/key/stored/stored-key.ts";
import { appendAudit } from "../../audit/audit.ts";
import type { Tx } from "../../database/change.ts";
import { TakeOverRefusedError } from "../../database/errors.ts";
import { lockKey } from "../rows/api-managed-keys.ts";

export type TakeOver = {
  readonly request: TakeOverRequest;
  /** What the key is from here on; its id and its team stay. */
  readonly owner: Pick<KeyIdentity, "cluster" | "namespace" | "name"> & {
    readonly ownerUid: string;
    readonly source: KeySource;
    readonly generation: number;
    /** It asks for no new version by itself. */
    readonly rotationTrigger: string | null;
  };
};

/**
 * Makes a key that was made by hand the own one of a declaration: the same row, with the same versions. What it may do
 * stays as it is; from here on it is the declaration that changes it. Of two that want it, the first has it.
 *
 * @throws TakeOverRefusedError where it is no such key, or is none any longer
 */
export async function takeOverKey(tx: Tx, { request, owner }: TakeOver): Promise<void> {
  const { keyId } = request;
  const key = await lockKey(tx, keyId);
  const decision = decideTakeOver(request, key);
  if (key === undefined || "refused" in decision) {
    throw new TakeOverRefusedError("refused" in decision ? decision.refused : `there is no key ${keyId}`);
  }
  const { cluster, namespace, name, ownerUid, source, generation, rotationTrigger } = owner;
  await tx
    .updateTable("keys")
    .set({ cluster, namespace, name, owner_uid: ownerUid, source, generation, spec: sql`null` })
    .where("id", "=", keyId)
    .execute();
  await sql`update key_versions set rotation_trigger = ${rotationTrigger},
      source_kind = case source_kind when 'minted' then 'taken-over' else source_kind end
    where key_id = ${keyId}`.execute(tx);
  const before = { namespace: key.namespace, name: key.name };
  const detail = { cluster, namespace, name, generation, before };
  await appendAudit(tx, [{ at: null, kind: "key.taken_over", keyId, teamId: key.teamId, detail }]);
}
