import { createHash } from "node:crypto";
import { API_CLUSTER } from "../../../../domain/api-cluster.ts";
import type { Tx } from "../../../../store/database/change.ts";
import { beginCreation, type Creation, endCreation, isCreationKnown } from "../../../../store/idempotency.ts";
import { lockKey } from "../../../../store/keys/rows/api-managed-keys.ts";
import type { LoadedKey } from "../../../../store/keys/rows/key-rows.ts";
import { readKnownUsage } from "../../../../store/keys/uses/usage.ts";
import type { ChangeContext } from "../../change-context.ts";
import type { Management } from "../../context.ts";
import type { CreationResult } from "../../creation.ts";
import { requireRight } from "../../rights.ts";
import type { KeyJson } from "../shown/key-json.ts";
import { type MadeVersion, replaceUnseenVersion } from "./api-managed-keys.ts";
import { makeKeyOnce } from "./make-key.ts";

/** Form whose answer shows a secret, as this request sent it. */
export type SentForm = {
  /** Identity of the form, which recognises a form that is sent twice. */
  readonly creation: Creation;
  readonly context: ChangeContext;
  /** True if the browser no longer waits for this answer. */
  isLeft(): boolean;
};

const WHY = "The same form was sent twice, and the version that it had made was never used";

/**
 * Makes a key or a version for a form whose answer shows its secret once. A browser discards that answer if the form is
 * sent again before it arrives. So a repeated form replaces the version that it has made, as long as no use of that
 * version is known and it is still the active version (threats b116).
 */
export function makeShownKey(
  management: Management,
  { creation, context, isLeft }: SentForm,
  make: (tx: Tx) => Promise<MadeVersion>,
): Promise<CreationResult<KeyJson>> {
  return makeKeyOnce(
    management,
    creation,
    context,
    async (tx) => recordVersion(tx, creation, await make(tx)),
    async (tx, keyId) => {
      if (isLeft()) return undefined;
      const key = await lockKey(tx, keyId);
      if (key === undefined || !(await isUnseen(tx, creation, key))) return undefined;
      requireRight(context.rights, key.teamId, "change keys");
      return recordVersion(tx, creation, await replaceUnseenVersion(tx, { ...context.author, why: WHY }, key));
    },
  );
}

/** True if this form made the key's active version, and no use of that version is known. */
async function isUnseen(tx: Tx, creation: Creation, key: LoadedKey): Promise<boolean> {
  const active = key.versions.find(({ state }) => state === "active");
  if (active === undefined || key.state === "revoked") return false;
  if (key.cluster !== API_CLUSTER || key.managedBy !== null) return false;
  if (!(await isCreationKnown(tx, ofVersion(creation, active.number)))) return false;
  const { lastUses } = await readKnownUsage(tx, key.id);
  return !lastUses.some(({ version }) => version === active.number);
}

/** Records that this form made a version. */
async function recordVersion(tx: Tx, creation: Creation, made: MadeVersion): Promise<MadeVersion> {
  const record = ofVersion(creation, made.number);
  await beginCreation(tx, record);
  await endCreation(tx, record, made.id);
  return made;
}

/** Returns the identity under which a version of a form is recorded, beside the form's own. */
function ofVersion(creation: Creation, number: number): Creation {
  const key = createHash("sha256").update(`${creation.key} version ${number}`, "latin1").digest("latin1");
  return { ...creation, key };
}
