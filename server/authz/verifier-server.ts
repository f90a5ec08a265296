/** The listener for external authorization: proxies ask it about requests, and services about keys. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Registry } from "@prometheus-io/client";
import type { Logger } from "../../runtime/log.ts";
import { problemFor } from "../auth/key-hook.ts";
import { foreignAddress, OF_PROXIES } from "../auth/refusals/foreign-address.ts";
import { recordRefusal } from "../auth/refusals/record-refusal.ts";
import { forbidden, type Refused } from "../auth/refused.ts";
import type { AuthzConfig, ServerConfig } from "../context/config.ts";
import { unservedPath } from "../gateway/unserved-path.ts";
import { AUTHZ_LISTENER, readCertificate, renewCertificate } from "../http/connections/certificate.ts";
import { STRICT } from "../http/connections/listener.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import { problemOf, STALE_VIEW } from "../http/problems/problem-of.ts";
import { sendDocument, sendNo, sendProblemDocument, sendYes } from "./answers.ts";
import type { AskedRequest } from "./asked-request.ts";
import { Asker } from "./asker.ts";
import { introspect, readIntrospectedToken } from "./introspection.ts";
import { openPeers, type Peers } from "./peers.ts";
import type { Verdict, VerifierDeps } from "./verdict.ts";
import { verify } from "./verifier.ts";
import { readVerifierPath, type VerifierPath } from "./verifier-path.ts";

/** Parts that the listener works with. */
export type AuthzDeps = VerifierDeps & {
  readonly log: Logger;
  readonly metrics: { readonly registry: Registry };
  readonly config: Pick<ServerConfig, "vendorHeader">;
};

const WHO_ASKS =
  "What asks is not known here: its operator has it send the token of --authz-token-file in X-Keyplane-Authz-Token.";
const UNKNOWN_PEER = problem("forbidden", WHO_ASKS);
/** Answer to a service without the token, by its status (RFC 7662 §2.3). */
const UNKNOWN_SERVICE = problem("unauthorized", WHO_ASKS);
const NO_QUESTION = problem(
  "not_found",
  "Proxies ask at /authz/<proxy>/g/<public id> and /authz/<proxy>/scope/<scope>, of nginx, traefik, caddy and envoy; services at /introspect.",
);
const NO_OPERATION = problem("not_found");
/** Answer to a form that is none of RFC 7662. */
const BAD_FORM = {
  error: "invalid_request",
  error_description: "Send POST with application/x-www-form-urlencoded and one parameter `token`.",
};
/** Bytes of a head: nginx takes 32 KiB of its clients, Envoy 60, and for a refusal here their callers get 503. */
const MAX_HEAD = 64 << 10;
const OPTIONS = { ...STRICT, maxHeaderSize: MAX_HEAD };
const INTROSPECTION = /^\/introspect(\/unmetered)?$/;

/**
 * Makes the listener.
 *
 * @returns the server, and what ends the reading of its files
 * @throws ConfigError if its certificate or its token cannot be had
 */
export async function createVerifierServer(
  deps: AuthzDeps,
  { tls, tokenFile, addressHeader }: Pick<AuthzConfig, "tls" | "tokenFile" | "addressHeader">,
): Promise<{ readonly server: Server; end(): Promise<void> }> {
  const { log, metrics } = deps;
  const certificate = tls && (await readCertificate(tls, AUTHZ_LISTENER));
  const peers = await openPeers(tokenFile, log);
  const answer = answerer(deps, peers, addressHeader);
  const asksForCertificates = certificate?.ca !== undefined;
  const server =
    certificate === null
      ? createServer(OPTIONS, answer)
      : createTlsServer(
          { ...OPTIONS, ...certificate, requestCert: asksForCertificates, rejectUnauthorized: asksForCertificates },
          answer,
        );
  // Node silently drops headers beyond a count, and a second credential with them: their size is the bound.
  server.maxHeadersCount = 0;
  server.on("tlsClientError", (_error, { authorizationError }: TLSSocket) => {
    // Null if something else than a certificate has ended the handshake. The connection's address is gone.
    if (authorizationError === null) return;
    log.warn({ cause: String(authorizationError) }, "--authz-port refused a client certificate, or there was none");
  });
  const endRenewals = certificate && renewCertificate(server, certificate, { log, registry: metrics.registry });
  return {
    server,
    async end() {
      peers.close();
      await endRenewals?.();
    },
  };
}

/** Reads the listener's files once, so that a fault ends the start. @throws ConfigError as {@link createVerifierServer} */
export async function checkAuthz({ tls, tokenFile }: AuthzConfig): Promise<void> {
  if (tls !== null) await readCertificate(tls, AUTHZ_LISTENER);
  (await openPeers(tokenFile)).close();
}

function answerer(deps: AuthzDeps, peers: Peers, addressHeader: string | null) {
  /** Connections that have been refused: what has come behind such a question is not looked at. */
  const left = new WeakSet<Socket>();
  return (question: IncomingMessage, response: ServerResponse): void => {
    response.on("error", ignore);
    const { socket } = question;
    if (left.has(socket)) return;
    const fail = (error: unknown): void => {
      deps.log.error({ error }, "a question to the verifier failed");
      if (response.headersSent) response.destroy();
      else sendProblemDocument(response, problemOf(error));
    };
    try {
      const { url = "" } = question;
      const [, unmetered] = INTROSPECTION.exec(url) ?? [undefined, null];
      const asker = new Asker(question, addressHeader);
      if (!peers.mayAsk(question, unmetered !== null)) {
        // What it says of its caller's address is not believed.
        const peer = { ip: socket.remoteAddress, raw: question };
        recordRefusal(deps, peer, "/authz", forbidden("unknown_peer", undefined));
        // Nothing more of its connection is read.
        response.shouldKeepAlive = false;
        left.add(socket);
        sendProblemDocument(response, unmetered === null ? UNKNOWN_PEER : UNKNOWN_SERVICE);
        return;
      }
      if (unmetered !== null) {
        answerIntrospection(deps, asker, response, unmetered !== undefined).catch(fail);
        return;
      }
      const path = readVerifierPath(url);
      if (path === undefined) {
        sendProblemDocument(response, NO_QUESTION);
        return;
      }
      const { asked, verdict } = verify(deps, path, question, asker);
      if (verdict instanceof Promise) {
        verdict.then((waited) => answerVerdict(deps, path, asker, response, asked, waited)).catch(fail);
      } else answerVerdict(deps, path, asker, response, asked, verdict);
    } catch (error) {
      fail(error);
    }
  };
}

function answerVerdict(
  deps: AuthzDeps,
  path: VerifierPath,
  asker: Asker,
  response: ServerResponse,
  asked: AskedRequest | undefined,
  verdict: Verdict,
): void {
  if (verdict.granted) {
    const { key, operation } = verdict;
    const now = deps.clock.now();
    deps.usage.record(key, now, asker);
    deps.usage.countRequest(key, operation, now);
    sendYes(response, verdict);
    return;
  }
  const { refused } = verdict;
  if (refused !== undefined) recordRefusal(deps, asker, path.pattern, refused);
  const shown = verdict.shown ?? problemOfRefused(deps, path, asker, asked, verdict.refused);
  sendNo(asker.raw, response, shown, path, asked, deps.config.vendorHeader);
}

function problemOfRefused(
  deps: AuthzDeps,
  { protects }: VerifierPath,
  asker: Asker,
  asked: AskedRequest | undefined,
  refused: Refused,
): Problem {
  if (refused.by.kind === "source address") return foreignAddress(asker, refused.by.list, OF_PROXIES);
  const gateway = "publicId" in protects ? deps.index.findGateway(protects.publicId) : undefined;
  const notFound =
    gateway !== undefined && refused.code === "not_found" && asked !== undefined
      ? unservedPath(gateway, asked.method, asked.path.slice(1))
      : NO_OPERATION;
  return problemFor(deps, asker, refused, notFound);
}

async function answerIntrospection(
  deps: AuthzDeps,
  asker: Asker,
  response: ServerResponse,
  isUnmetered: boolean,
): Promise<void> {
  const token = await readIntrospectedToken(asker.raw);
  if (token === undefined) {
    // The rest of a body that has not ended is not read.
    response.shouldKeepAlive = false;
    return sendDocument(response, 400, BAD_FORM);
  }
  if (!deps.index.isCurrent()) return sendProblemDocument(response, STALE_VIEW);
  sendDocument(response, 200, introspect(deps, token, isUnmetered, deps.clock.now()));
}

const ignore = (): void => {};
