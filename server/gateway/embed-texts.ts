import type { IncomingHttpHeaders } from "node:http";
import type { Pool } from "undici";
import type { Dialect, GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import { decideForKey } from "../auth/decide.ts";
import { Problem } from "../http/errors.ts";
import type { ServerDeps } from "../product/deps.ts";
import type { Consumer } from "../usage/usage-recorder.ts";
import type { EmbedRequest, EmbedResult } from "./embed-request.ts";
import { checkVectors, EMBEDDING_FORMATS, type EmbeddingFormat } from "./embedding-formats.ts";
import { upstreamTarget } from "./request-target.ts";
import { resolve, type UpstreamCandidate } from "./resolve.ts";
import { createAddressGuard } from "./upstream/addresses.ts";
import { assertFewInterimAnswers } from "./upstream/interim-answers.ts";
import { createUpstreamPools, type ReachableUpstream } from "./upstream/pools.ts";
import { mayRefuseCredential, REFUSED_CREDENTIAL_REASON, refusesCredential } from "./upstream/upstream-failure.ts";
import { OUTCOMES_FLUSH_MS, UpstreamOutcomes } from "./upstream/upstream-outcomes.ts";

/** Embeds texts through a gateway, as the gateway's callers do. */
export type TextEmbedder = {
  /** Never fails. */
  embed(request: EmbedRequest): Promise<EmbedResult>;
  close(): Promise<void>;
};

type EmbedderDeps = Pick<ServerDeps, "index" | "streams" | "usage" | "clock" | "log" | "store" | "config">;

/** Beside those of the gateway's callers. */
const SLOTS = { calls: 8, queued: 64, queuedMs: 1_000 };
/** Of an answer, in bytes, for each text: more than the longest vector takes, a line for each number. */
const MAX_ANSWER_PER_TEXT = 256 << 10;
const MAX_RETRY_AFTER_MS = 300_000;
const CONSUMER: Consumer = { ip: "127.0.0.1", headers: { "user-agent": "keyplane-embeddings" } };
/** Nanoseconds in a millisecond. */
const NANOSECONDS = 1e6;
/** What an upstream answers that takes these texts not, and others perhaps. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * Makes what embeds texts. Each call is decided as a request with that key is, on this replica's index, and is cut when
 * the key ends; it goes by the gateway's own rules for addresses, credentials and models, and counts as a use of the key.
 * A route's fallbacks are not asked: the vectors of another model mean something else.
 */
export function createTextEmbedder(deps: EmbedderDeps): TextEmbedder {
  const { clock, config } = deps;
  const pools = createUpstreamPools(createAddressGuard(config.allowedPrivateUpstreams), clock.monotonic, SLOTS);
  const outcomes = new UpstreamOutcomes(clock.now);
  const flush = setInterval(() => void outcomes.flush(deps), OUTCOMES_FLUSH_MS).unref();

  return {
    async embed(request) {
      const { texts, dimensions, timeoutMs } = request;
      const way = findWay(deps, request);
      if ("kind" in way) return way;
      const { key, gatewayId, upstream, model, format } = way;
      const rate = key.rateLimit === null ? undefined : deps.index.chargeRequest(key, clock.monotonic() * NANOSECONDS);
      if (rate?.admitted === false) return failed("the library's key has used up its rate limit");
      const cut = new AbortController();
      const call = deps.streams.track(key, () => cut.abort());
      const now = clock.now();
      deps.usage.record(key, now, CONSUMER);
      deps.usage.countRequest(key, format.operation, now);
      try {
        const { pool, slots, basePath, credentialHeader } = pools.poolOf(gatewayId, upstream);
        if (!slots.tryTake()) return failed("too many texts are being embedded at this upstream");
        try {
          const body = JSON.stringify(format.body(model, texts, dimensions ?? undefined));
          const path = upstreamTarget(basePath, format.path, format.namesModel ? model : undefined, "");
          const signal = AbortSignal.any([cut.signal, AbortSignal.timeout(timeoutMs)]);
          const maxAnswer = texts.length * MAX_ANSWER_PER_TEXT;
          const answer = await post(pool, { path, credentialHeader, body, signal, maxAnswer });
          outcomes.answered(gatewayId, upstream, answer.status);
          if (isCredentialRefused(upstream, answer)) {
            outcomes.refusedCredential(gatewayId, upstream);
            return failed("the upstream refuses the gateway's credential");
          }
          if (answer.status !== 200) return refusal(answer.status, answer.headers);
          const vectors = checkVectors(format.vectorsOf(parsed(answer.text)), texts.length, dimensions ?? undefined);
          if (typeof vectors === "string") return failed(vectors);
          return { kind: "vectors", vectors, servedBy: `${upstream.name} ${upstream.dialect} ${model}` };
        } finally {
          slots.release();
        }
      } catch (error) {
        const why = cut.signal.aborted ? "the library's key may no longer be used" : whyOf(error, timeoutMs);
        outcomes.failed(gatewayId, upstream, why);
        return failed(why);
      } finally {
        call.end();
      }
    },
    async close() {
      clearInterval(flush);
      await pools.close();
    },
  };
}

type Way = {
  readonly key: KeyRecord;
  readonly gatewayId: string;
  readonly upstream: ReachableUpstream;
  readonly model: string;
  readonly format: EmbeddingFormat;
};

/** Decides a call, and where it goes. */
function findWay(deps: EmbedderDeps, { digest, publicId, model }: EmbedRequest): Way | EmbedResult {
  const { index, streams } = deps;
  if (!index.isCurrent()) return failed("this server cannot prove at present that the library's key may be used");
  const found = index.findKey(digest);
  const gateway = index.findGateway(publicId);
  const dialect = gateway && dialectOf(gateway, model);
  const format = dialect && EMBEDDING_FORMATS[dialect];
  const judged = decideForKey(deps, found, { product: "gateway", operation: format?.operation, publicId });
  if ("granted" in judged) {
    if (judged.code === "not_found") return failed("the gateway has no upstream that speaks openai or gemini");
    return failed(`the library's key is refused at its gateway (${judged.cause})`);
  }
  const { key } = judged;
  if (dialect === undefined || format === undefined || judged.gateway === null) return failed("the gateway is gone");
  if (!streams.hasRoom(key)) return failed("the library's key has too many calls under way");
  // The declaration names the route: no caller does.
  const resolving = { allowedModels: key.allowedModels, mayResolveRoutes: true };
  const resolved = resolve(judged.gateway, resolving, dialect, model);
  if (resolved instanceof Problem) return failed(`the gateway does not serve the model: ${resolved.detail}`);
  const [candidate] = resolved.candidates;
  if (!isReachable(candidate)) return failed("the gateway has no credential for the upstream");
  const { upstream } = candidate;
  return { key, gatewayId: judged.gateway.gatewayId, upstream, model: candidate.model ?? model, format };
}

/** Of the route that the model names; else the first one that knows embeddings. */
function dialectOf({ routes, upstreams }: GatewayRecord, model: string): Dialect | undefined {
  const named = routes.find((route) => route.model === model);
  const upstream = upstreams.find(({ name, dialect }) =>
    named === undefined ? EMBEDDING_FORMATS[dialect] !== undefined : name === named.upstream,
  );
  return upstream?.dialect;
}

function isReachable(
  candidate: UpstreamCandidate,
): candidate is UpstreamCandidate & { readonly upstream: ReachableUpstream } {
  return candidate.upstream.credential !== null;
}

type Post = {
  readonly path: string;
  readonly credentialHeader: readonly [string, string];
  readonly body: string;
  readonly signal: AbortSignal;
  /** Bytes. */
  readonly maxAnswer: number;
};
type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

class TooLongError extends Error {}

async function post(
  pool: Pool,
  { path, credentialHeader: [name, credential], body, signal, maxAnswer }: Post,
): Promise<Answer> {
  let interimAnswers = 0;
  const {
    statusCode: status,
    headers,
    body: answer,
  } = await pool.request({
    method: "POST",
    path,
    headers: { "content-type": "application/json", accept: "application/json", [name]: credential },
    body,
    signal,
    onInfo: () => assertFewInterimAnswers(++interimAnswers),
  });
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of answer) {
    length += piece.length;
    if (length > maxAnswer) throw new TooLongError();
    pieces.push(piece);
  }
  return { status, headers, text: Buffer.concat(pieces).toString() };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isCredentialRefused(upstream: ReachableUpstream, { status, text }: Answer): boolean {
  return refusesCredential(status) || (mayRefuseCredential(upstream, status) && REFUSED_CREDENTIAL_REASON.test(text));
}

function refusal(status: number, headers: IncomingHttpHeaders): EmbedResult {
  const why = `the upstream answered ${status}`;
  if (REFUSED.has(status)) return { kind: "refused", why };
  const seconds = Number(headers["retry-after"]);
  if (!(seconds >= 0)) return failed(why);
  return { kind: "failed", why, retryAfterMs: Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS) };
}

function failed(why: string): EmbedResult {
  return { kind: "failed", why };
}

/** By codes alone: a message may hold what the other side sent. */
function whyOf(error: unknown, timeoutMs: number): string {
  if (error instanceof TooLongError) return "the upstream's answer was too long";
  if (error instanceof Error && error.name === "TimeoutError") {
    return `the upstream did not answer within ${timeoutMs / 1_000} s`;
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^[A-Z0-9_]{1,64}$/.test(code) ? `the upstream cannot be reached: ${code}` : "the upstream cannot be reached";
}
