import type { LoadedKey } from "../../../../store/keys/rows/key-rows.ts";
import { Problem, problem } from "../../../http/problems/problem.ts";
import { problemOf } from "../../../http/problems/problem-of.ts";
import type { ChangeContext } from "../../change-context.ts";
import type { Rights } from "../../rights.ts";
import { requireKey } from "../request/requirements.ts";
import { revokeByHand } from "./changes.ts";

/**
 * Outcome for a key among several that are revoked together: revoked now, revoked before, or left as it is, with the
 * reason.
 */
export type RevocationOutcome =
  | { readonly id: string; readonly is: "revoked" | "already" }
  | { readonly id: string; readonly is: "refused"; readonly why: string };

const UNTRIED = "Not tried, since one before it failed: select it again.";

/** Fields of a key that decide its outcome. */
type JudgedKey = Pick<LoadedKey, "teamId" | "state" | "ownerUid" | "namespace" | "name">;

/** Returns the outcome that a revocation of a key would have now. @param key undefined if it does not exist */
export function foreseeRevocation(id: string, key: JudgedKey | undefined, rights: Rights): RevocationOutcome {
  try {
    return { id, is: judge(requireKey(key, rights, "revoke keys")) };
  } catch (error) {
    if (error instanceof Problem) return { id, is: "refused", why: error.detail };
    throw error;
  }
}

/**
 * Revokes keys one after the other, each in a transaction of its own, as if each had been requested by itself: so at
 * most one connection is used at a time. Stops at the first failure that is more than a refusal of that key, and leaves
 * the keys after it untried.
 *
 * @param contextNow reads the caller and their rights again for each key
 * @param onFailure called with each error that is no refusal
 */
export async function revokeEach(
  ids: readonly string[],
  contextNow: () => Promise<ChangeContext>,
  onFailure: (error: unknown) => void,
): Promise<RevocationOutcome[]> {
  const outcomes: RevocationOutcome[] = [];
  let isStopped = false;
  for (const id of ids) {
    outcomes.push(isStopped ? { id, is: "refused", why: UNTRIED } : await revokeOne(id));
  }
  return outcomes;

  async function revokeOne(id: string): Promise<RevocationOutcome> {
    let is: "revoked" | "already" = "revoked";
    try {
      await revokeByHand(await contextNow(), id, "ByHand", (key) => {
        is = judge(key);
      });
      return { id, is };
    } catch (error) {
      const { status, code, detail } = problemOf(error, "POST");
      isStopped = status >= 500 || code === "unauthorized" || code === "rate_limited";
      if (status >= 500) onFailure(error);
      return { id, is: "refused", why: detail };
    }
  }
}

/**
 * Says whether a key is to be revoked, or was already. @throws Problem `managed` for a living key that a declaration
 * governs
 */
function judge({ state, ownerUid, namespace, name }: JudgedKey): "revoked" | "already" {
  if (state === "revoked") return "already";
  if (ownerUid === null) return "revoked";
  throw problem(
    "managed",
    `PlatformKey ${namespace}/${name} declares it: remove that declaration, or revoke the key on its own page.`,
  );
}
