import { holdMadeKey, isHeldSo } from "../../domain/key/policies/made-key.ts";
import type { TeamPolicies } from "../../domain/key/policies/team-policies.ts";
import { change, type Db } from "../../store/database/change.ts";
import { databaseTime } from "../../store/database/times.ts";
import { updateKeyPolicy } from "../../store/keys/lifecycle/policy-update.ts";
import { lockKey, madeKeysAfter } from "../../store/keys/rows/api-managed-keys.ts";
import type { LoadedKey } from "../../store/keys/rows/key-rows.ts";
import { countKeysBefore } from "../../store/keys/search/keys-before.ts";
import { gatewayOfPolicy, policiesMark, policiesOfTeam } from "../../store/policies/key-policies.ts";
import type { ControllerDeps } from "../context/deps.ts";
import { storePresence } from "./stored-policies.ts";

/** Largest number of keys in one look. */
const MAX_KEYS = 500;

/**
 * Makes a function that applies policies to keys that were made by hand, and undoes that once no policy asks for it:
 * the server judges a key only when it is made or changed, and what policies ask depends on the time too. Each look
 * takes the next keys, and after the last the first again. Without policies there is one round, and no other until
 * there is a policy.
 *
 * @param onForgotten called once a policy is no longer stored: declared keys may have waited for it
 * @returns a function that takes one look; throws StaleLeaderError
 */
export function createMadeKeyHolder(deps: ControllerDeps, onForgotten: () => void): () => Promise<void> {
  const { cluster, store } = deps;
  let afterId = "";
  let seen: string | undefined;
  let isRoundOver = false;
  return async () => {
    if (await storePresence(deps)) onForgotten();
    const mark = await policiesMark(store.db);
    if (mark !== seen) [seen, afterId, isRoundOver] = [mark, "", false];
    if (mark === "" && isRoundOver) return;
    const keys = await madeKeysAfter(store.db, cluster.uid, afterId, MAX_KEYS);
    const policies = new Map<string, TeamPolicies>();
    for (const key of keys) {
      // A key that fails comes round again, and holds up no other.
      afterId = key.id;
      const team = policies.get(key.teamId) ?? (await policiesOfTeam(store.db, key.teamId));
      policies.set(key.teamId, team);
      if ((await newValues(store.db, key, team)) !== undefined) await hold(deps, key.id);
    }
    if (keys.length < MAX_KEYS) [afterId, isRoundOver] = ["", true];
  };
}

/** Returns the values that policies change of a key; undefined if the key is as they ask. */
async function newValues(db: Db, key: LoadedKey, team: TeamPolicies) {
  if (key.spec === null) return undefined;
  const isCounted = team.policies.some(({ maxKeys }) => maxKeys !== null);
  const keysBefore = isCounted ? await countKeysBefore(db, key.teamId, key.id) : null;
  const made = { spec: key.spec, gateway: await gatewayOfPolicy(db, key.policy.boundGatewayId) };
  const held = holdMadeKey(made, key, team, { now: await databaseTime(db), keysBefore });
  return isHeldSo(held, key) ? undefined : { held, spec: key.spec };
}

/** Decides again behind the key's lock: it may have been changed, or be a declaration's by now. */
async function hold({ store, fence }: ControllerDeps, keyId: string): Promise<void> {
  await change(store, fence, async (tx) => {
    const key = await lockKey(tx, keyId);
    if (key === undefined || key.state === "revoked") return;
    const found = await newValues(tx, key, await policiesOfTeam(tx, key.teamId));
    if (found === undefined) return;
    await updateKeyPolicy(tx, { keyId, generation: key.generation, ...found.held });
  });
}
