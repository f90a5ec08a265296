import { type RawBuilder, sql } from "kysely";
import type {
  Dialect,
  GatewayRecord,
  OperationKind,
  RouteRecord,
  UpstreamRecord,
} from "../../domain/access/key-record.ts";
import type { Author } from "../audit/audit.ts";
import type { Db, Tx } from "../database/change.ts";
import { KeyringError, PublicIdTakenError } from "../database/errors.ts";
import { newId } from "../database/ids.ts";
import { DATABASE_NOW } from "../database/times.ts";
import { sealingKeyring } from "../encryption/encryption-key.ts";
import { isSealedAs, type Keyring, openSealed, seal, unseal } from "../encryption/keyring.ts";
import { auditObject } from "../objects/audit-objects.ts";

export type GatewayDraft = {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly ownerUid: string;
  readonly teamId: string;
  readonly publicId: string;
  readonly routesOnly: boolean;
  readonly operations: readonly OperationKind[];
  /** Upstreams in the order of their precedence. The credential is in clear text. */
  readonly upstreams: readonly UpstreamRecord[];
  readonly routes: readonly RouteRecord[];
  /** Author, for the audit log. */
  readonly by?: Author;
};

/** Gateway as the change feed delivers it; {@link openGateway} turns it into a {@link GatewayRecord}. */
export type SealedGateway = Omit<GatewayRecord, "upstreams"> & {
  /** Upstreams. The sealed credential is as an {@link UpstreamRecord} has it in clear text. */
  readonly upstreams: readonly (Omit<UpstreamRecord, "credential"> & { readonly sealed: Uint8Array | null | false })[];
};

/**
 * Stores a gateway as declared, its provider credentials encrypted. The public id is its identity: no other gateway may
 * have it, and after a deletion only the same team may reuse it (threats b73). If the same declaration had another
 * public id, as in a team that lost the namespace, that id is released. A declaration of the same place and team with
 * another uid is the same one: its cluster was restored (threats c122).
 *
 * @throws PublicIdTakenError if another gateway or team has the public id
 */
export async function saveGateway(tx: Tx, draft: GatewayDraft, keyring: Keyring): Promise<{ gatewayId: string }> {
  const { cluster, namespace, name, teamId, by } = draft;
  const { gatewayId } = await auditObject(tx, {
    kind: "gateway",
    where: { cluster, namespace, name, teamIds: [teamId] },
    by,
    task: () => saveWholeGateway(tx, draft, keyring),
    // That a credential changed, and never its value.
    moreThanFields: ({ changedCredentials }) => (changedCredentials.length > 0 ? { changedCredentials } : undefined),
  });
  return { gatewayId };
}

async function saveWholeGateway(
  tx: Tx,
  draft: GatewayDraft,
  keyring: Keyring,
): Promise<{ gatewayId: string; changedCredentials: string[] }> {
  const { cluster, namespace, name, ownerUid, teamId, publicId } = draft;
  const columns = {
    cluster,
    namespace,
    name,
    owner_uid: ownerUid,
    routes_only: draft.routesOnly,
    operations: [...draft.operations],
    routes: JSON.stringify(draft.routes),
    state: "active",
  };
  const isOwn = sql<boolean>`(cluster = ${cluster}
    and (owner_uid = ${ownerUid} or (namespace, name, team_id) = (${namespace}, ${name}, ${teamId})))`;
  await releaseWhere(tx, sql`${isOwn} and public_id <> ${publicId}`);
  const made = await tx
    .insertInto("gateways")
    .values({ id: newId("gw"), public_id: publicId, team_id: teamId, ...columns })
    .onConflict((conflict) => conflict.column("public_id").doNothing())
    .returning("id")
    .executeTakeFirst();
  let gatewayId = made?.id;
  if (gatewayId === undefined) {
    const holder = await tx
      .selectFrom("gateways")
      .select(["id", "team_id", "state", isOwn.as("isOwn")])
      .where("public_id", "=", publicId)
      .forUpdate()
      .executeTakeFirstOrThrow();
    if (holder.team_id !== teamId || (holder.state !== "released" && !holder.isOwn)) {
      throw new PublicIdTakenError(`the public id ${publicId} belongs to another gateway: choose another`);
    }
    await tx
      .updateTable("gateways")
      .set(columns)
      .where("id", "=", holder.id)
      .where(
        sql<boolean>`(cluster, namespace, name, owner_uid, routes_only, operations, routes, state) is distinct from
          (${cluster}, ${namespace}, ${name}, ${ownerUid}, ${draft.routesOnly}::boolean,
          ${columns.operations}::text[], ${columns.routes}::jsonb, ${columns.state})`,
      )
      .execute();
    gatewayId = holder.id;
  }
  return { gatewayId, changedCredentials: await saveUpstreams(tx, gatewayId, draft.upstreams, keyring) };
}

/**
 * Writes only the upstreams that differ. A stored credential that has not changed keeps its ciphertext, unless that is
 * under an old key.
 *
 * @returns names of the upstreams whose credential changed
 */
async function saveUpstreams(
  tx: Tx,
  gatewayId: string,
  upstreams: readonly UpstreamRecord[],
  keyring: Keyring,
): Promise<string[]> {
  const changedCredentials: string[] = [];
  const sealing = await sealingKeyring(tx, keyring);
  const stored = await tx.selectFrom("gateway_upstreams").selectAll().where("gateway_id", "=", gatewayId).execute();
  const gone = stored.map(({ name }) => name).filter((name) => !upstreams.some((upstream) => upstream.name === name));
  if (gone.length > 0) {
    await tx.deleteFrom("gateway_upstreams").where("gateway_id", "=", gatewayId).where("name", "in", gone).execute();
  }
  for (const [position, { name, dialect, baseUrl, credential }] of upstreams.entries()) {
    const old = stored.find((row) => row.name === name);
    const text = credential === false ? null : credential;
    const takesCredential = credential !== false;
    const asBefore = old?.takes_credential === takesCredential;
    const kept = asBefore && isSealedAs(sealing, old.credential, text, gatewayId);
    if (kept && old.position === position && old.dialect === dialect && old.base_url === baseUrl) continue;
    const stays = asBefore && (kept || credentialOf(keyring, old.credential, gatewayId) === text);
    if (old !== undefined && !stays) changedCredentials.push(name);
    const row = {
      position,
      dialect,
      base_url: baseUrl,
      credential: kept ? old.credential : text === null ? null : seal(sealing, text, gatewayId),
      credential_at: stays ? old.credential_at : DATABASE_NOW,
      takes_credential: takesCredential,
    };
    await tx
      .insertInto("gateway_upstreams")
      .values({ gateway_id: gatewayId, name, ...row })
      .onConflict((conflict) => conflict.columns(["gateway_id", "name"]).doUpdateSet(row))
      .execute();
  }
  return changedCredentials;
}

function credentialOf(keyring: Keyring, sealed: Uint8Array | null, gatewayId: string): string | null {
  return sealed === null ? null : openSealed(keyring, sealed, gatewayId);
}

/**
 * Reads the credential of an upstream in clear text; null if it has none, or none that our keys decrypt; false if it is
 * declared without one.
 */
export async function readUpstreamCredential(
  tx: Tx,
  gatewayId: string,
  upstream: string,
  keyring: Keyring,
): Promise<UpstreamRecord["credential"]> {
  const stored = await tx
    .selectFrom("gateway_upstreams")
    .select(["credential", "takes_credential"])
    .where("gateway_id", "=", gatewayId)
    .where("name", "=", upstream)
    .executeTakeFirst();
  if (stored?.credential) return openSealed(keyring, stored.credential, gatewayId);
  return stored?.takes_credential === false ? false : null;
}

/**
 * Takes a gateway out of service: its credentials are deleted, its public id stays with its team.
 *
 * @returns true if it was in service
 */
export function releaseGateway(tx: Tx, cluster: string, ownerUid: string, by?: Author): Promise<boolean> {
  const task = () => releaseWhere(tx, sql`cluster = ${cluster} and owner_uid = ${ownerUid}`);
  return auditObject(tx, { kind: "gateway", where: { cluster, ownerUid }, by, task });
}

async function releaseWhere(tx: Tx, which: RawBuilder<boolean>): Promise<boolean> {
  const released = await tx
    .updateTable("gateways")
    .set({ state: "released", owner_uid: null, routes: "[]" })
    .where("state", "=", "active")
    .where(which)
    .returning("id")
    .execute();
  const ids = released.map(({ id }) => id);
  if (ids.length > 0) await tx.deleteFrom("gateway_upstreams").where("gateway_id", "in", ids).execute();
  return ids.length > 0;
}

/**
 * Decrypts a gateway's credentials: the gateway as a replica serves it. An upstream whose credential no key opens has
 * none.
 *
 * @param onUnreadable called with the error for each such upstream
 */
export function openGateway(
  gateway: SealedGateway,
  keyring: Keyring,
  onUnreadable: (error: KeyringError) => void,
): GatewayRecord {
  const open = (sealed: SealedGateway["upstreams"][number]["sealed"]) => {
    if (sealed === null || sealed === false) return sealed;
    try {
      return unseal(keyring, sealed, gateway.gatewayId);
    } catch (error) {
      if (!(error instanceof KeyringError)) throw error;
      onUnreadable(error);
      return null;
    }
  };
  const upstreams = gateway.upstreams.map(({ sealed, ...upstream }) => ({ ...upstream, credential: open(sealed) }));
  return { ...gateway, upstreams };
}

/** Row of the change feed's query for gateways: one for each upstream of a gateway. */
export type GatewayRow = {
  id: string;
  public_id: string;
  team_id: string;
  team_holds_namespace: boolean;
  routes_only: boolean;
  operations: OperationKind[];
  routes: RouteRecord[];
  upstream: string | null;
  dialect: string;
  base_url: string;
  credential: Uint8Array | null;
  takes_credential: boolean;
};

/**
 * Converts rows, in the order of gateway and position, to gateways. An upstream's dialect passes through: an unknown
 * dialect serves no path.
 */
export function toSealedGateways(rows: readonly GatewayRow[]): SealedGateway[] {
  const gateways = new Map<string, SealedGateway & { upstreams: SealedGateway["upstreams"][number][] }>();
  for (const row of rows) {
    const gateway = gateways.get(row.id) ?? {
      gatewayId: row.id,
      publicId: row.public_id,
      teamId: row.team_id,
      teamHoldsNamespace: row.team_holds_namespace,
      routesOnly: row.routes_only,
      operations: row.operations,
      routes: row.routes,
      upstreams: [],
    };
    gateways.set(row.id, gateway);
    if (row.upstream === null) continue;
    gateway.upstreams.push({
      name: row.upstream,
      dialect: row.dialect as Dialect,
      baseUrl: row.base_url,
      // A credential that is there goes along, whatever the declaration was when an older controller wrote the row.
      sealed: row.takes_credential ? row.credential : (row.credential ?? false),
    });
  }
  return [...gateways.values()];
}

/** Reads the public id of a gateway that is in service. */
export async function findPublicId(db: Db, gatewayId: string): Promise<string | undefined> {
  const found = await db
    .selectFrom("gateways")
    .select("public_id")
    .where("id", "=", gatewayId)
    .where("state", "=", "active")
    .executeTakeFirst();
  return found?.public_id;
}

/**
 * Finds the public id of a team's gateway of a place and name, also where that is no longer in service: made again, it
 * is the same gateway (threats c122).
 */
export async function findPublicIdOfPlace(
  db: Db,
  { cluster, namespace, name, teamId }: Pick<GatewayDraft, "cluster" | "namespace" | "name" | "teamId">,
): Promise<string | undefined> {
  const found = await db
    .selectFrom("gateways")
    .select("public_id")
    .where("cluster", "=", cluster)
    .where("namespace", "=", namespace)
    .where("name", "=", name)
    .where("team_id", "=", teamId)
    .orderBy(sql`state = 'active'`, "desc")
    .orderBy("created_at", "desc")
    .executeTakeFirst();
  return found?.public_id;
}
