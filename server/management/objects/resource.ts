import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { Db, Tx } from "../../../store/database/change.ts";
import { isId } from "../../../store/database/ids.ts";
import { listObjects, lockObject, type ObjectKind, type StoredOf } from "../../../store/objects/objects.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import type { ChangeContext } from "../change-context.ts";
import type { UNSEEN } from "../preconditions.ts";
import type { ReasonBody } from "../request-schemas.ts";
import { type Action, type Rights, requireRightStill, seesTeam, visibleTeams } from "../rights.ts";

/** Kind of object, with the parts of its routes that differ from other kinds. */
export type ManagedResource<K extends ObjectKind, CreateBody extends ReasonBody> = ShownResource<K> & {
  readonly path: "teams" | "libraries" | "gateways";
  readonly action: Action;
  /** Title in the description of the API. */
  readonly title: string;
  /** Schemas of the fields that are shown besides those of every object. */
  readonly shown: Readonly<Record<string, object>>;
  readonly specSchema: object;
  readonly createSchema: object;
  /** Body that makes an object. */
  readonly example: { readonly name: string; readonly team?: string; readonly spec: object };
  create(tx: Tx, context: ChangeContext, body: CreateBody): Promise<{ id: string }>;
  replace(tx: Tx, context: ChangeContext, stored: StoredOf[K], spec: unknown): Promise<void>;
  /** Removes the object. Checks the caller's right if that is another right than to change. */
  remove(tx: Tx, context: ChangeContext, stored: StoredOf[K]): Promise<void>;
};

type ShownResource<K extends ObjectKind> = {
  readonly kind: K;
  /** Kind in manifests. */
  readonly declaredAs: "PlatformTeam" | "MemoryLibrary" | "ModelGateway";
  /** Returns the fields that are shown besides those of every object. */
  show(stored: StoredOf[K]): { readonly spec: object; readonly [UNSEEN]?: string } & Readonly<Record<string, unknown>>;
};

/** Returns an object as the API shows it. */
export function objectJson<K extends ObjectKind>({ kind, declaredAs, show }: ShownResource<K>, stored: StoredOf[K]) {
  const { id, cluster, namespace, name, ownerUid, teamId, team, createdAt } = stored;
  const declaredIn = cluster === API_CLUSTER ? null : { cluster, kind: declaredAs, uid: ownerUid };
  const home = kind === "team" ? {} : { namespace, team, teamId };
  return { id, name, ...home, createdAt: rfc3339Millis(createdAt.getTime()), declaredIn, ...show(stored) };
}

/** Reads an object as the API shows it. @throws Problem `not_found`, also for an object that the caller may not see */
export async function showObject<K extends ObjectKind>(db: Db, resource: ShownResource<K>, rights: Rights, id: string) {
  return objectJson(resource, await findVisible(db, resource.kind, rights, id));
}

/** Reads an object as it is stored. @throws Problem `not_found`, also for an object that the caller may not see */
export async function findVisible<K extends ObjectKind>(db: Db, kind: K, rights: Rights, id: string) {
  const [found] = await listObjects(db, kind, { id: knownId(kind, id), teamIds: visibleTeams(rights), limit: 1 });
  if (found === undefined) throw absent(kind);
  return found;
}

/**
 * Locks an object that the caller may change. @throws Problem `not_found`, `forbidden`, or `managed` for an object that
 * was not made by hand
 */
export async function lockChangeable<K extends ObjectKind>(
  tx: Tx,
  { kind, declaredAs, action }: ShownResource<K> & { readonly action: Action },
  { rights, principal }: ChangeContext,
  id: string,
): Promise<StoredOf[K]> {
  const stored = await lockObject(tx, kind, knownId(kind, id));
  if (stored === undefined || !seesTeam(rights, stored.teamId)) throw absent(kind);
  await requireRightStill(tx, principal, stored.teamId, action);
  if (stored.cluster === API_CLUSTER) return stored;
  const name = stored.namespace === "" ? stored.name : `${stored.namespace}/${stored.name}`;
  throw problem(
    "managed",
    `${declaredAs} ${name} (uid ${stored.ownerUid}, cluster ${stored.cluster}) declares this: change it there.`,
  );
}

function knownId(kind: ObjectKind, id: string): string {
  if (!isId(id)) throw absent(kind);
  return id;
}

function absent(kind: ObjectKind): Problem {
  return problem("not_found", `There is no ${kind} of this id.`);
}
