/** The listener that Envoy asks over gRPC: `envoy.service.auth.v3.Authorization/Check`. */
import {
  constants,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type Http2Session,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { recordRefusal } from "../auth/refusals/record-refusal.ts";
import { forbidden } from "../auth/refused.ts";
import type { AuthzConfig } from "../context/config.ts";
import { Problem, problem } from "../http/problems/problem.ts";
import { problemOf } from "../http/problems/problem-of.ts";
import { denialOf, problemDenial } from "./answers.ts";
import { Asker } from "./asker.ts";
import { noAnswer, yesAnswers } from "./check-answer.ts";
import { type CheckMessage, readCheckMessage } from "./check-message.ts";
import { readCheckRequest } from "./check-request.ts";
import { readListenerCertificate, watchCertificate } from "./listener-certificate.ts";
import { countVerdict } from "./outcome.ts";
import { openPeers, type Peers, UNKNOWN_PEER } from "./peers.ts";
import { MalformedMessage } from "./protobuf.ts";
import { verify } from "./verifier.ts";
import { readVerifierPath } from "./verifier-path.ts";
import type { AuthzDeps } from "./verifier-server.ts";

const CHECK = "/envoy.service.auth.v3.Authorization/Check";
const HEAD = { ":status": 200, "content-type": "application/grpc" };
const OK = { "grpc-status": "0" };
/** Answer to what is no question: nothing else is served. */
const UNIMPLEMENTED = { ...HEAD, "grpc-status": "12", "grpc-message": `Only ${CHECK} is served here` };

const NO_CHECK = problem("invalid_request", "The proxy's question is no CheckRequest of envoy.service.auth.v3.");
const UNPROTECTED = problem(
  "forbidden",
  "The proxy does not say what it protects: its operator sets `keyplane` in context_extensions of the route, to /g/<public id> or /scope/<scope>.",
);

/** Milliseconds that a connection stays open on which nothing moves. */
const IDLE_MS = 120_000;
/** Milliseconds for what is under way on a connection that is closed. */
const CLOSING_MS = 1_000;
/** Streams that a proxy resets at once, since its callers leave: no reason to end the connection of all the others. */
const RESETS = 100_000;
/**
 * Bytes that a proxy may send ahead, of one stream and of a connection: by Node's 64 KiB, a large body takes as many
 * round trips as the proxy has no time for.
 */
const AHEAD = { ofStream: 1 << 20, ofConnection: 16 << 20 };
const OPTIONS = {
  settings: {
    enablePush: false,
    maxConcurrentStreams: 1_000,
    maxHeaderListSize: 16 << 10,
    initialWindowSize: AHEAD.ofStream,
  },
  // Megabytes that a session may have queued, beyond which Node refuses its streams.
  maxSessionMemory: 64,
  streamResetBurst: RESETS,
  streamResetRate: RESETS,
};

/** Listener, with its open connections, and what ends the reading of its files. */
type GrpcServer = {
  readonly server: Http2Server | Http2SecureServer;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  end(): Promise<void>;
};

/**
 * Makes the listener.
 *
 * @throws ConfigError if its certificate or its token cannot be had
 */
export async function createGrpcServer(
  deps: AuthzDeps,
  { tls, tokenFile, addressHeader }: Pick<AuthzConfig, "tls" | "tokenFile" | "addressHeader">,
): Promise<GrpcServer> {
  const certificate = tls && (await readListenerCertificate(tls));
  const peers = await openPeers(tokenFile, deps.log);
  const secure = certificate && createSecureServer({ ...OPTIONS, ...certificate });
  const endRenewals = secure && certificate && watchCertificate(secure, certificate, deps);
  const server = secure ?? createServer(OPTIONS);
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session: ServerHttp2Session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", ignore);
    session.setLocalWindowSize(AHEAD.ofConnection);
    session.setTimeout(IDLE_MS, () => closeSession(session));
  });
  server.on("stream", answerer(deps, peers, addressHeader));
  return {
    server,
    sessions,
    async end() {
      peers.close();
      await endRenewals?.();
    },
  };
}

function closeSession(session: Http2Session): void {
  session.close();
  setTimeout(() => session.destroy(), CLOSING_MS).unref();
}

function answerer(deps: AuthzDeps, peers: Peers, addressHeader: string | null) {
  /** Connections that have been refused: what has come behind such a question is not looked at. */
  const left = new WeakSet<Http2Session>();
  const yesAnswer = yesAnswers(deps.config.vendorHeader);

  async function answerMessage(stream: ServerHttp2Stream, message: Buffer): Promise<void> {
    const question = readCheckRequest(message);
    const path = readVerifierPath(`/authz/envoy${question.protects ?? ""}`);
    if (path === undefined || path.rest !== "") {
      respond(stream, noAnswer(problemDenial(question, UNPROTECTED)));
      return;
    }
    const asker = new Asker(question, addressHeader);
    const asks = { ...path, rest: question.url ?? "" };
    const { asked, verdict } = verify(deps, asks, question, asker);
    const settled = verdict instanceof Promise ? await verdict : verdict;
    const shown = countVerdict(deps, path, asker, asked, settled);
    if (shown !== undefined) {
      respond(stream, noAnswer(denialOf(question, shown, path, asked, deps.config.vendorHeader)));
    } else if (settled.granted) respond(stream, yesAnswer(settled, question));
  }

  function refuse(stream: ServerHttp2Stream, shown: Problem): void {
    respond(stream, noAnswer(problemDenial(stream, shown)));
  }

  function fail(stream: ServerHttp2Stream, error: unknown): void {
    const isMalformed = error instanceof MalformedMessage;
    if (!isMalformed) deps.log.error({ error }, "a question to the verifier failed");
    refuse(stream, isMalformed ? NO_CHECK : problemOf(error));
  }

  async function answerAndRelease(stream: ServerHttp2Stream, { bytes, release }: CheckMessage): Promise<void> {
    try {
      await answerMessage(stream, bytes);
    } catch (error) {
      fail(stream, error);
    } finally {
      release();
    }
  }

  return (
    stream: ServerHttp2Stream,
    headers: Readonly<Record<string, unknown>>,
    _flags: number,
    rawHeaders: string[],
  ): void => {
    stream.on("error", ignore);
    const { session } = stream;
    if (session === undefined || left.has(session)) return;
    if (!peers.mayAsk({ rawHeaders }, false)) {
      // What it says of its caller's address is not believed.
      const peer = { ip: session.socket.remoteAddress, raw: { rawHeaders } };
      recordRefusal(deps, peer, "/authz", forbidden("unknown_peer", undefined));
      // Nothing more of its connection is read.
      left.add(session);
      refuse(stream, UNKNOWN_PEER);
      closeSession(session);
      return;
    }
    if (headers[":path"] !== CHECK || headers[":method"] !== "POST") {
      stream.respond(UNIMPLEMENTED, { endStream: true });
      closeUnread(stream);
      return;
    }
    readCheckMessage(deps.streams, stream, (message) => {
      if (message instanceof Problem) refuse(stream, message);
      else void answerAndRelease(stream, message);
    });
  };
}

/** Answers with a message, and takes nothing more of the stream. */
function respond(stream: ServerHttp2Stream, frame: Buffer): void {
  if (stream.closed || stream.destroyed || stream.headersSent) return;
  stream.respond(HEAD, { waitForTrailers: true });
  stream.once("wantTrailers", () => {
    if (stream.closed || stream.destroyed) return;
    stream.sendTrailers(OK);
    if (!stream.readableEnded) closeUnread(stream);
  });
  stream.end(frame);
}

/** Closes a stream that is answered before its end: not at once, or its answer would not be sent. */
function closeUnread(stream: ServerHttp2Stream): void {
  setImmediate(() => {
    stream.close(constants.NGHTTP2_NO_ERROR);
    // With bytes that are not taken, it would not end.
    stream.resume();
  });
}

const ignore = (): void => {};
