import { changedFields } from "../../domain/audited-fields.ts";
import { type Author, appendAudit } from "../audit/audit.ts";
import type { Tx } from "../database/change.ts";
import { listObjects, type ObjectFilter, type ObjectKind, type StoredOf } from "./objects.ts";
import { TEAM_FIELDS } from "./team-columns.ts";

/** Recorded fields of each kind, and no others: of a credential or a signing secret only whether there is one. */
const AUDITED: { readonly [K in ObjectKind]: readonly (keyof StoredOf[K] & string)[] } = {
  team: [...TEAM_FIELDS, "webhooks"],
  library: ["displayName", "description", "deletionPolicy"],
  gateway: ["publicId", "routesOnly", "operations", "upstreams", "routes"],
};

/** Filter that finds an object before a change and after it. */
type Where = Pick<ObjectFilter, "cluster" | "namespace" | "name" | "ownerUid" | "teamIds">;

/** Change of an object, with the facts for the audit log. */
type AuditedTask<K extends ObjectKind, T> = {
  readonly kind: K;
  readonly where: Where;
  /** Author; undefined for the controller. */
  readonly by: Author | undefined;
  readonly task: () => Promise<T>;
  /** Details that are recorded beside the changed fields. */
  readonly detail?: Readonly<Record<string, unknown>>;
  /** Returns changes that are in no field, from the task's result; undefined for none. */
  readonly moreThanFields?: (result: T) => Readonly<Record<string, unknown>> | undefined;
};

/**
 * Changes a team, a library or a gateway, and appends its state before and after to the audit log, in the same
 * transaction. Appends nothing if nothing has changed.
 */
export async function auditObject<K extends ObjectKind, T>(
  tx: Tx,
  { kind, where, by, task, detail = {}, moreThanFields }: AuditedTask<K, T>,
): Promise<T> {
  const find = async () => (await listObjects(tx, kind, { ...where, limit: 1 }))[0];
  const before = await find();
  const result = await task();
  const after = await find();
  const object = after ?? before;
  if (object === undefined) return result;
  const changed = changedFields(pick(kind, before), pick(kind, after));
  const more = moreThanFields?.(result);
  if (Object.keys(changed).length === 0 && more === undefined) return result;
  const what = before === undefined ? "created" : after === undefined ? "deleted" : "changed";
  const { id, cluster, namespace, name, teamId, ownerUid } = object;
  const reference = { id, cluster, ...(namespace === "" ? {} : { namespace }), name, uid: ownerUid };
  const said = { ...reference, changed, ...detail, ...more };
  await appendAudit(tx, [{ at: null, kind: `${kind}.${what}`, teamId, by, detail: said }]);
  return result;
}

function pick<K extends ObjectKind>(kind: K, object: StoredOf[K] | undefined): Record<string, unknown> | undefined {
  return object && Object.fromEntries(AUDITED[kind].map((field) => [field, object[field]]));
}
