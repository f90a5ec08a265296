/** Introspection of a key (RFC 7662), for services that know scopes alone. It charges nothing. */
import type { IncomingMessage } from "node:http";
import { INTROSPECTION } from "../../domain/access/caller-network.ts";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import { unusableBecause } from "../../domain/access/key-state.ts";
import { scopesIn } from "../../domain/access/scopes.ts";
import { type DecisionDeps, findPresented } from "../auth/decide.ts";
import type { UsageRecorder } from "../usage/usage-recorder.ts";
import { singleHeader } from "./asked-request.ts";
import { narrowerThan, unheldLimit } from "./unheld.ts";

/** Bytes of the largest form that is read. */
const MAX_FORM = 16 * 1024;
const INACTIVE = { active: false };
const SERVICE = { ip: INTROSPECTION, headers: {} };

/** Answer to an introspection: a status, and a document in JSON. */
export type Introspection = { readonly status: number; readonly document: object };

/**
 * Returns what a key may do, and notes that an active one is used: its caller is with the service. A key that has ended
 * is as inactive as an unknown one, and so is a key whose rights `scope` does not express, or whose limits count requests.
 *
 * @param isUnmetered true if limits do not matter
 * @param now milliseconds since the epoch
 */
export function introspect(
  deps: Pick<DecisionDeps, "index" | "metrics" | "config"> & { readonly usage: Pick<UsageRecorder, "record"> },
  token: string,
  isUnmetered: boolean,
  now: number,
): object {
  const key = findPresented(deps, token);
  if (key === undefined || key === "malformed" || unusableBecause(key, now) !== undefined) return INACTIVE;
  const scopes = scopesIn(key.scopes);
  if (narrowerThan(scopes, key) !== undefined || hasNetworks(key)) return INACTIVE;
  if (!isUnmetered && (unheldLimit(key, true) !== undefined || hasRate(key))) return INACTIVE;
  deps.usage.record(key, now, SERVICE);
  return {
    active: true,
    scope: scopes.join(" "),
    token_type: "Bearer",
    sub: key.keyId,
    client_id: key.keyId,
    ...(Number.isFinite(key.expiresAt) && { exp: Math.floor(key.expiresAt / 1_000) }),
    team: key.teamId,
    namespace: key.namespace,
  };
}

function hasNetworks({ allowedCIDRs, teamAllowedCIDRs }: KeyRecord): boolean {
  return allowedCIDRs !== null || teamAllowedCIDRs !== null;
}

function hasRate({ rateLimit, teamLimits }: KeyRecord): boolean {
  return rateLimit !== null || (teamLimits !== null && teamLimits.rate !== null);
}

/**
 * Reads the token that a form asks about.
 *
 * @returns undefined unless the form is one of RFC 7662, with one token
 */
export async function readIntrospectedToken(question: IncomingMessage): Promise<string | undefined> {
  const type = singleHeader(question.rawHeaders, "content-type") ?? "";
  if (question.method !== "POST" || !/^application\/x-www-form-urlencoded *(?:;|$)/i.test(type)) return undefined;
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of question.iterator({ destroyOnReturn: false })) {
    size += piece.length;
    if (size > MAX_FORM) return undefined;
    pieces.push(piece);
  }
  const [token, ...others] = new URLSearchParams(Buffer.concat(pieces).toString()).getAll("token");
  return others.length === 0 ? token : undefined;
}
