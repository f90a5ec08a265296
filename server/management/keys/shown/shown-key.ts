import type { Db } from "../../../../store/database/change.ts";
import { findKey } from "../../../../store/keys/rows/find-key.ts";
import { type ListedKey, withoutDigests } from "../../../../store/keys/search/key-lists.ts";
import { readKeyNames } from "../../../../store/keys/search/key-names.ts";
import { readNetworks } from "../../../../store/keys/uses/key-networks.ts";
import { type Rights, seesTeam } from "../../rights.ts";
import { NO_KEY } from "../request/requirements.ts";
import { type KeyJson, keyJson } from "./key-json.ts";
import type { Receipts } from "./receipt.ts";

/** Dependencies of showing keys. */
type KeyView = {
  readonly db: Db;
  /** Gives the receipts of revocations. */
  readonly receiptOf: Awaited<ReturnType<Receipts["read"]>>;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

/** Returns keys as the management API shows them, in the same order. */
export async function showKeys({ db, receiptOf, now }: KeyView, keys: readonly ListedKey[]): Promise<KeyJson[]> {
  if (keys.length === 0) return [];
  const names = await readKeyNames(db, keys);
  const networks = await readNetworks(
    db,
    keys.map(({ id }) => id),
  );
  return keys.map((key) =>
    keyJson(key, {
      ...{ names, now },
      networks: networks.get(key.id) ?? [],
      receipt: receiptOf(key.revocation?.seq ?? null),
    }),
  );
}

/** Returns a key as the management API shows it. @throws Problem `not_found`, also for a key of another team */
export async function showKey(view: KeyView, rights: Rights, id: string): Promise<KeyJson> {
  const key = await findKey(view.db, id);
  const known = key !== undefined && seesTeam(rights, key.teamId) ? [withoutDigests(key)] : [];
  const [shown] = await showKeys(view, known);
  if (shown === undefined) throw NO_KEY;
  return shown;
}
