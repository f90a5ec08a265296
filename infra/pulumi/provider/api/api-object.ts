/** What the management API answers, as far as it is read here (docs/reference/management-api.md). */
import { isRecord } from "../../../../domain/manifest/document/identity.ts";
import type { ResourceKind } from "../resources.ts";
import type { Api, ApiAnswer } from "./api.ts";
import { Refusal, UnreachableError } from "./refusal.ts";

export type ApiObject = {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly team: string | undefined;
  readonly teamId: string | undefined;
  readonly spec: Readonly<Record<string, unknown>>;
  /** Where it is declared; undefined for what the API made. */
  readonly declaredIn: unknown;
  readonly etag: string;
  /** Of a key: what manages it. */
  readonly managedBy: string | undefined;
  /** Of a key. */
  readonly versions: readonly Version[];
  readonly isUsed: boolean;
  readonly scopes: readonly string[];
  readonly expiresAt: string | undefined;
  readonly revocation: Revocation | undefined;
  /** Of a gateway. */
  readonly publicID: string | undefined;
  /** Of a gateway, its upstreams without a credential; of a team, its webhooks without a signing secret. */
  readonly missingCredentials: readonly string[];
};

export type Version = {
  readonly number: number;
  readonly prefix: string;
  readonly state: string;
  readonly mintedAt: string;
  readonly activatedAt: string | undefined;
  readonly retiresAt: string | undefined;
  readonly expiresAt: string | undefined;
};

type Revocation = {
  readonly reason: string;
  readonly at: string;
  readonly sequence: number | undefined;
  readonly confirmed: boolean;
};

/** @throws UnreachableError for what no Keyplane server answers */
export function parseObject({ body, etag }: ApiAnswer): ApiObject {
  if (!isRecord(body) || typeof body.id !== "string" || typeof body.name !== "string" || !isRecord(body.spec)) {
    throw new UnreachableError("the server's answer is no object of Keyplane's: see that keyplane:url is right");
  }
  return {
    id: body.id,
    name: body.name,
    namespace: text(body.namespace) ?? "",
    team: text(body.team),
    teamId: text(body.teamId),
    spec: body.spec,
    declaredIn: body.declaredIn ?? undefined,
    etag,
    managedBy: text(body.managedBy),
    versions: listOf(body.versions).map(readVersion),
    isUsed: typeof body.lastUsedAt === "string",
    scopes: listOf(body.scopes).map(String),
    expiresAt: text(body.expiresAt),
    revocation: isRecord(body.revocation) ? readRevocation(body.revocation) : undefined,
    publicID: text(body.publicID),
    missingCredentials: listOf(body.missingCredentials ?? body.missingSecrets).map(String),
  };
}

/** A version as the API, or a state, has it. */
export function readVersion(version: unknown): Version {
  const fields = isRecord(version) ? version : {};
  return {
    number: Number(fields.number),
    prefix: text(fields.prefix) ?? "",
    state: text(fields.state) ?? "",
    mintedAt: text(fields.mintedAt) ?? "",
    activatedAt: text(fields.activatedAt),
    retiresAt: text(fields.retiresAt),
    expiresAt: text(fields.expiresAt),
  };
}

function readRevocation({ reason, at, sequence, confirmed }: Readonly<Record<string, unknown>>): Revocation {
  return {
    reason: text(reason) ?? "",
    at: text(at) ?? "",
    sequence: typeof sequence === "number" ? sequence : undefined,
    confirmed: confirmed === true,
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * The object of an id; undefined where there is none. A revoked key is there no more, whatever can still be seen of it.
 *
 * @throws Refusal, UnreachableError, TokenError
 */
export async function fetchObject(
  api: Api,
  { path }: Pick<ResourceKind, "path">,
  id: string,
): Promise<ApiObject | undefined> {
  try {
    return parseObject(await api.send("GET", `${path}/${encodeURIComponent(id)}`));
  } catch (error) {
    if (error instanceof Refusal && error.code === "not_found") return undefined;
    throw error;
  }
}

/**
 * Makes sure that an object which is answered as not there is gone. The API answers so, too, to the token of no member
 * of its team, and so do another installation and another path: who sees the team sees what it has.
 *
 * @param teamId of the object, as a state has it; a team itself has none
 * @throws Refusal `hidden` where the team is not to be seen either
 */
export async function assertGone(api: Api, teamId: unknown): Promise<void> {
  if (typeof teamId !== "string" || (await fetchObject(api, { path: "teams" }, teamId)) !== undefined) return;
  throw new Refusal(404, { code: "hidden" });
}

/**
 * Deletes an object.
 *
 * @throws Refusal `not_found` where it is not there, UnreachableError for what no Keyplane server answers
 */
export async function deleteObject(api: Api, { path }: ResourceKind, id: string): Promise<void> {
  const { body } = await api.send("DELETE", `${path}/${encodeURIComponent(id)}`);
  if (isRecord(body) && typeof body.confirmed === "boolean") return;
  throw new UnreachableError("the server's answer is none of Keyplane's: see that keyplane:url is right");
}
