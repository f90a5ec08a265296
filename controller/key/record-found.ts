import { isDeepStrictEqual } from "node:util";
import { recordedLabels } from "../../domain/key/declaration/recorded-labels.ts";
import { recordedSpec } from "../../domain/key/declaration/recorded-spec.ts";
import { heldByPolicies } from "../../domain/key/issuance/policy-violated.ts";
import { isOutdated } from "../../domain/key/observed/observed-key.ts";
import { waitsForTeam } from "../../domain/key/plan/plan-policy.ts";
import { recordKeyDeclaration } from "../../store/keys/rows/key-declarations.ts";
import { recordKeySecret } from "../../store/keys/rows/key-secrets.ts";
import { reportBudgets } from "../budgets/report-budgets.ts";
import type { ObjectStatus } from "../cluster/port.ts";
import type { KeyDeps } from "./key-deps.ts";
import type { KeyObservation } from "./key-observation.ts";
import { reportNotices } from "./notices.ts";
import { secretToRecord } from "./observe-secret.ts";

/**
 * Records what was found of a key, and reports what is news in it, before its status is written: a status that says that
 * the key is as declared, or what was reported, is about what is recorded.
 */
export async function recordFound(deps: KeyDeps, observation: KeyObservation, status: ObjectStatus): Promise<void> {
  const { object, budgets } = observation;
  await recordSecret(deps, observation);
  await recordDeclaration(deps, observation);
  await reportNotices(deps, object, status);
  await reportBudgets(deps, object, status, budgets);
}

/** Records what is known of the key's Secret, so that a later process need not read it again. */
async function recordSecret(deps: KeyDeps, observation: KeyObservation): Promise<void> {
  const { stored } = observation;
  const found = secretToRecord(deps, observation);
  if (stored !== undefined && found !== undefined) await recordKeySecret(deps.store.db, stored.id, found);
}

/**
 * Records the declaration, so that the key can be shown as it is declared, and is rotated by its recorded declaration
 * while an edit is held. A declaration that is not applied is not recorded, nor one of which only a suspension is
 * applied.
 */
async function recordDeclaration({ store }: KeyDeps, { object, observed, stored }: KeyObservation): Promise<void> {
  const { uid: ownerUid, generation, spec } = object;
  if (stored === undefined || isOutdated(observed, stored)) return;
  const isHeld = heldByPolicies(observed) !== undefined || waitsForTeam(observed, stored);
  if ((isHeld || stored.generation < generation) && stored.state !== "revoked") return;
  const found = { ownerUid, generation, labels: recordedLabels(object.labels) };
  if (isDeepStrictEqual(stored.declarationFound, found)) return;
  await recordKeyDeclaration(store.db, stored.id, { ...found, spec: recordedSpec(spec) });
}
