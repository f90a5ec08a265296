/** Object in an answer of the management API, as far as the provider reads it (docs/reference/management-api.md). */
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
  /** Location of its declaration; undefined for an object made through the API. */
  readonly declaredIn: unknown;
  readonly etag: string;
  /** Manager of a key. */
  readonly managedBy: string | undefined;
  /** Versions of a key. */
  readonly versions: readonly Version[];
  readonly isUsed: boolean;
  readonly scopes: readonly string[];
  readonly expiresAt: string | undefined;
  readonly revocation: Revocation | undefined;
  /** Public id of a gateway. */
  readonly publicID: string | undefined;
  /** Upstreams of a gateway without a credential, or webhooks of a team without a signing secret. */
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

/**
 * Reads an object from an answer.
 *
 * @throws UnreachableError for an answer that is not a Keyplane server's
 */
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

/** Reads a version, as the API or a state has it. */
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
 * Fetches an object by its id; undefined if there is none. A revoked key may still be returned; callers treat it as
 * gone.
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
 * Checks that an object which the API reports as missing is really gone. The API gives the same answer to a token
 * without membership in the object's team, and so do another installation and another path. A token that sees the team
 * sees its objects.
 *
 * @param teamId the object's team, from the state; undefined for a team itself
 * @throws Refusal `hidden` if the team is not visible either
 */
export async function assertGone(api: Api, teamId: unknown): Promise<void> {
  if (typeof teamId !== "string" || (await fetchObject(api, { path: "teams" }, teamId)) !== undefined) return;
  throw new Refusal(404, { code: "hidden" });
}

/**
 * Deletes an object.
 *
 * @throws Refusal `not_found` if there is none, UnreachableError for an answer that is not a Keyplane server's
 */
export async function deleteObject(api: Api, { path }: ResourceKind, id: string): Promise<void> {
  const { body } = await api.send("DELETE", `${path}/${encodeURIComponent(id)}`);
  if (isRecord(body) && typeof body.confirmed === "boolean") return;
  throw new UnreachableError("the server's answer is none of Keyplane's: see that keyplane:url is right");
}
