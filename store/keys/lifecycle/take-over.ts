import { sql } from "kysely";
import { decideTakeOver, type TakeOverRequest } from "../../../domain/key/observed/take-over.ts";
import type { KeyIdentity, KeySource } from "../../../domain/key/stored/stored-key.ts";
import { appendAudit } from "../../audit/audit.ts";
import { copyLedger } from "../../budgets/copy-ledger.ts";
import type { Tx } from "../../database/change.ts";
import { TakeOverRefusedError } from "../../database/errors.ts";
import { lockKey } from "../rows/api-managed-keys.ts";

export type TakeOver = {
  readonly request: TakeOverRequest;
  /** New identity of the key, from its declaration. The key keeps its id and its team. */
  readonly owner: Pick<KeyIdentity, "cluster" | "namespace" | "name"> & {
    readonly ownerUid: string;
    readonly source: KeySource;
    readonly generation: number;
    /** Trigger of the declaration. It is stored with all versions, so that it requests no new version by itself. */
    readonly rotationTrigger: string | null;
  };
};

/**
 * Gives a key that was made by hand to a declaration: the row, its versions and what it has used of its budgets stay.
 * Its policy stays as it is, and only the declaration changes it from now on. If two declarations want the key, the
 * first gets it.
 *
 * @throws TakeOverRefusedError if the key cannot be taken over, or not any longer
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
  await copyLedger(tx, { from: key, to: { cluster, namespace, name, teamId: key.teamId } });
  const before = { namespace: key.namespace, name: key.name };
  const detail = { cluster, namespace, name, generation, before };
  await appendAudit(tx, [{ at: null, kind: "key.taken_over", keyId, teamId: key.teamId, detail }]);
}
