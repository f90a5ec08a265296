import type { FastifyReply, FastifyRequest } from "fastify";
import { appendAudit } from "../../../store/audit/audit.ts";
import type { Tx } from "../../../store/database/change.ts";
import { beginSession, endSession, renewSession, type SignedIn } from "../../../store/sessions/sessions.ts";
import { takeSignInLink } from "../../../store/sessions/sign-in-links.ts";
import { authorAs } from "../management/author.ts";
import { LINK_ACTOR, type SessionDeps } from "./authenticate-session.ts";
import { clearCookie, readCookie, setCookie } from "./cookies.ts";
import { makeSecret, secretDigest } from "./secret.ts";

/** Milliseconds that a session lasts at most. */
const SESSION_MS = 8 * 3_600_000;

/**
 * Signs a person in. The session is a new one, and replaces the session that the browser came with, which another
 * person may have planted.
 */
export async function signInAs(
  deps: SessionDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  signedIn: SignedIn,
): Promise<void> {
  await replaceSession(deps, request, reply, signedIn, async () => true);
}

/**
 * Renews the session that a browser came with by what its issuer says now.
 *
 * @returns false if it has ended, or is another person's
 */
export async function renewSessionOf(
  { store, config }: SessionDeps,
  request: FastifyRequest,
  signedIn: SignedIn,
): Promise<boolean> {
  const digest = secretDigest(readCookie("session", config, request.raw.rawHeaders) ?? "");
  return digest !== undefined && renewSession(store.unauthenticatedDb, digest, signedIn);
}

/**
 * Signs in the person who opened a one-time link, which is used up by it.
 *
 * @param secret text that the link holds
 * @returns false for a link that has expired, was used, or never existed
 */
export async function signInByLink(
  deps: SessionDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  secret: string,
): Promise<boolean> {
  const digest = secretDigest(secret);
  if (digest === undefined || deps.managementToken?.role !== "everything") return false;
  const signedIn = { person: null, sid: null, displayName: "Administrator" };
  return replaceSession(deps, request, reply, signedIn, (tx) => takeSignInLink(tx, digest));
}

async function replaceSession(
  { store, config }: SessionDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  signedIn: SignedIn,
  allow: (tx: Tx) => Promise<boolean>,
): Promise<boolean> {
  const secret = makeSecret();
  const digest = secretDigest(secret);
  if (digest === undefined) throw new Error("the new secret has no digest");
  const before = secretDigest(readCookie("session", config, request.raw.rawHeaders) ?? "");
  const { person, displayName } = signedIn;
  const by =
    person === null
      ? authorAs(LINK_ACTOR, request)
      : authorAs(`${person.issuer}#${person.subject}`, request, displayName);
  const isAllowed = await store.unauthenticatedDb.transaction().execute(async (tx) => {
    if (!(await allow(tx))) return false;
    const ended = before !== undefined && (await endSession(tx, before)) ? (["session.ended"] as const) : [];
    await beginSession(tx, digest, signedIn, SESSION_MS);
    await appendAudit(
      tx,
      [...ended, "session.begun" as const].map((kind) => ({ at: null, kind, by, detail: {} })),
    );
    return true;
  });
  if (isAllowed) reply.header("set-cookie", setCookie("session", config, secret, SESSION_MS));
  return isAllowed;
}

/** Ends the session of a request, and has the browser forget it. */
export async function signOut(
  { store, config }: SessionDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  digest: string,
): Promise<void> {
  const by = authorAs(request.managementPrincipal?.actor ?? LINK_ACTOR, request);
  await store.db.transaction().execute(async (tx) => {
    if (await endSession(tx, digest)) await appendAudit(tx, [{ at: null, kind: "session.ended", by, detail: {} }]);
  });
  reply.header("set-cookie", clearCookie("session", config));
}
