import type { ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import type { KeyPolicy } from "../../../../domain/key/declaration/key-policy.ts";
import type { Tx } from "../../../../store/database/change.ts";
import { databaseTime } from "../../../../store/database/times.ts";
import { findApiManagedKey } from "../../../../store/keys/rows/api-managed-keys.ts";
import { invalid } from "../../objects/diagnostics.ts";
import { nameTaken, requireNamespace, teamFor } from "../../objects/placement.ts";
import type { Rights } from "../../rights.ts";
import { holdNewKey } from "../request/held-keys.ts";
import { readKey, resolvePolicy } from "../request/read-key.ts";
import type { CreateKeyBody } from "../request/request-schemas.ts";

/** Key that may be made. */
type PlannedKey = {
  readonly teamId: string;
  readonly spec: ApiManagedKeySpec;
  readonly policy: KeyPolicy;
  /** Milliseconds that a version lives; null for no end. */
  readonly expiresAfter: number | null;
};

/**
 * Checks the requested key, and returns it as it would be stored. Makes nothing.
 *
 * @throws Problem `invalid`, `forbidden`, `exists`, `conflict`
 */
export async function planNewKey(
  tx: Tx,
  rights: Rights,
  { name, namespace, team: named, spec }: Pick<CreateKeyBody, "name" | "namespace" | "team" | "spec">,
): Promise<PlannedKey> {
  const team = await teamFor(tx, rights, named, "make keys");
  const read = readKey({ name, namespace, spec });
  await requireNamespace(tx, team.id, namespace);
  const { expiresAt } = read.declared;
  if (expiresAt !== null && expiresAt <= (await databaseTime(tx))) {
    throw invalid([{ path: "spec.expiresAt", message: "is in the past: write a later time, or leave it out" }]);
  }
  const asked = await resolvePolicy(tx, team.id, read.declared);
  const taken = await findApiManagedKey(tx, { teamId: team.id, namespace, name });
  if (taken !== undefined) throw nameTaken("key", taken);
  return { teamId: team.id, spec: read.spec, ...(await holdNewKey(tx, team.id, read.spec, asked)) };
}
