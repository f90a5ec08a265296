import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { Pool } from "undici";
import type { Dialect, GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import type { GatewayOperation } from "../../domain/access/operations.ts";
import type { LimitOwner } from "../../domain/access/rate-limit.ts";
import { hasBudget } from "../../domain/budget/budget.ts";
import { type CallEnd, type ExpectedTokens, UNUSED, usedTokens } from "../../domain/usage/token-reservation.ts";
import type { AnswerUsage } from "../../domain/usage/tokens.ts";
import { budgetProblem } from "../auth/budget-problem.ts";
import { chargeRates, countsTokens, type MetRate, refundRates, refusingRate } from "../auth/charge-rate.ts";
import { decideForKey } from "../auth/decide.ts";
import { settleTokens } from "../auth/settle-tokens.ts";
import type { BudgetRefusal, BudgetReservation } from "../budgets/budget-grants.ts";
import { Problem } from "../http/errors.ts";
import type { ServerDeps } from "../product/deps.ts";
import type { Consumer } from "../usage/usage-recorder.ts";
import type { UpstreamPath } from "./classify.ts";
import { upstreamTarget } from "./request-target.ts";
import { type Resolved, resolve, type UpstreamCandidate } from "./resolve.ts";
import { openTap, reportsUsage } from "./tokens/answer-tap.ts";
import { expectedTokens } from "./tokens/expected-tokens.ts";
import { createAddressGuard } from "./upstream/addresses.ts";
import { assertFewInterimAnswers } from "./upstream/interim-answers.ts";
import { createUpstreamPools, type ReachableUpstream } from "./upstream/pools.ts";
import {
  mayGoOnAfter,
  mayRefuseCredential,
  REFUSED_CREDENTIAL_REASON,
  refusesCredential,
} from "./upstream/upstream-failure.ts";
import { OUTCOMES_FLUSH_MS, UpstreamOutcomes } from "./upstream/upstream-outcomes.ts";

/** How a dialect is asked for what a library needs. */
export type CallFormat = {
  readonly operation: GatewayOperation;
  readonly path: UpstreamPath;
  /** Whether the path names the model. */
  readonly namesModel: boolean;
  /** What its provider wants besides. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** Those that know it. */
export type CallFormats<F extends CallFormat> = Readonly<Partial<Record<Dialect, F>>>;

/** By which key, gateway and model a library calls. */
export type LibraryModel = {
  /** Of the key, which no caller presents. */
  readonly digest: string;
  readonly publicId: string;
  readonly model: string;
};

type LibraryCall<F> = LibraryModel & {
  readonly timeoutMs: number;
  /** Of the answer, in bytes. */
  readonly maxAnswer: number;
  body(format: F, model: string): object;
};

/** That nothing came of a call. */
export type FailedCall = {
  /** The upstream does not take this; or nothing can be asked at present. */
  readonly kind: "refused" | "failed";
  /** For people, in words without anything that the upstream has said. */
  readonly why: string;
  /** When to try again, where the upstream or a rate limit says. */
  readonly retryAfterMs?: number;
  /** The answer was too long, or took too long: what was asked may be why. */
  readonly isOverrun?: boolean;
};

type LibraryAnswer<F> =
  | {
      readonly kind: "answered";
      readonly format: F;
      /** Parsed, unchecked; undefined for what is no JSON. */
      readonly answer: unknown;
      /** Which upstream and model gave it. */
      readonly servedBy: string;
    }
  | FailedCall;

/** Calls models for libraries, as a gateway's callers do. */
export type LibraryCaller<F> = {
  /** Never fails. */
  call(request: LibraryCall<F>): Promise<LibraryAnswer<F>>;
  close(): Promise<void>;
};

export type CallerDeps = Pick<
  ServerDeps,
  "index" | "installationLimits" | "budgets" | "streams" | "usage" | "clock" | "log" | "store" | "config"
>;

type Calling<F extends CallFormat> = {
  readonly formats: CallFormats<F>;
  /** What the calls count as in the use of a key. */
  readonly userAgent: string;
};

/** Beside those of the gateway's callers. */
const SLOTS = { calls: 8, queued: 64, queuedMs: 1_000 };
const MAX_RETRY_AFTER_MS = 300_000;
/** In a millisecond. */
const NANOSECONDS = 1e6;
/** What an upstream answers that does not take this, and something else perhaps. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * Makes what calls models for libraries. Each call is decided as a request with the library's key is, on this replica's
 * index, and is cut when the key ends; it goes by the gateway's own rules for addresses, credentials and models, and
 * counts as a use of the key. A route's fallbacks are not asked: the library declares one model.
 */
export function createLibraryCaller<F extends CallFormat>(
  deps: CallerDeps,
  { formats, userAgent }: Calling<F>,
): LibraryCaller<F> {
  const { clock, config } = deps;
  const consumer: Consumer = { ip: "127.0.0.1", headers: { "user-agent": userAgent } };
  const pools = createUpstreamPools(createAddressGuard(config.allowedPrivateUpstreams), clock.monotonic, SLOTS);
  const outcomes = new UpstreamOutcomes(clock.now);
  const flush = setInterval(() => void outcomes.flush(deps), OUTCOMES_FLUSH_MS).unref();

  return {
    async call(request) {
      const { timeoutMs, maxAnswer } = request;
      const found = findWay(deps, formats, request);
      if ("kind" in found) return found;
      const bodyFor = ({ format, model }: Way<F>) => JSON.stringify(request.body(format, model));
      const isCounted =
        reportsUsage(found.format.operation) && (countsTokens(found.key, found.limits) || hasBudget(found.key));
      const expected = isCounted
        ? await expectedTokens(found.format.operation, Buffer.from(bodyFor(found)))
        : undefined;
      const rates = await chargeRates(deps, found.key, found.limits, expected && expected.input + expected.output);
      const refusing = refusingRate(rates);
      if (refusing !== undefined) return rateFailure(refusing);
      const reserved = await reserveBudgets(deps, found, expected);
      if (reserved !== undefined && "kind" in reserved) {
        refundRates(deps, rates);
        return budgetFailure(reserved, clock.now());
      }
      const takeBack = (): void => {
        refundRates(deps, rates);
        if (reserved !== undefined) deps.budgets.settle(reserved, UNUSED);
      };
      // Its key may have been revoked, or its gateway have changed, meanwhile.
      const way = findWay(deps, formats, request);
      if ("kind" in way) {
        takeBack();
        return way;
      }
      const { key, gatewayId, routeId, limits, upstream, model, format } = way;
      const body = bodyFor(way);
      const { dialect } = upstream;
      /** How many upstreams are given up where the call ends now; undefined once its answer says how it has ended. */
      const ending: { givenUp: 0 | 1 | undefined } = { givenUp: 0 };
      const over = (end: CallEnd): void => {
        if (expected === undefined) return;
        const used = usedTokens(dialect, expected, end);
        settleTokens(deps, rates, used);
        if (reserved !== undefined) deps.budgets.settle(reserved, used);
      };
      const cut = new AbortController();
      const call = deps.streams.track(key, () => cut.abort());
      if (typeof call === "string") {
        takeBack();
        return failed(tooManyCalls(call));
      }
      if (limits !== undefined && limits.concurrent !== null && !call.countFor(limits.id, limits.concurrent)) {
        call.end();
        takeBack();
        return failed(tooManyCalls("route"));
      }
      const now = clock.now();
      deps.usage.record(key, now, consumer);
      deps.usage.countRequest(key, format.operation, now);
      try {
        const { pool, slots, basePath, credentialHeader } = pools.poolOf(gatewayId, upstream, key.teamId);
        if (!slots.tryTake()) return failed("too many calls of libraries are under way at this upstream");
        try {
          const path = upstreamTarget(basePath, format.path, format.namesModel ? model : undefined, "");
          const [name, credential] = credentialHeader;
          const headers = { ...format.headers, [name]: credential };
          const signal = AbortSignal.any([cut.signal, AbortSignal.timeout(timeoutMs)]);
          const { operation } = format;
          const onUsage = (usage: AnswerUsage, mostWritten: number) => {
            deps.usage.countAnswer(key, { gatewayId, routeId, askedModel: model, usage }, clock.now());
            over({ answer: { usage, mostWritten }, givenUp: 0 });
          };
          const onSent = () => {
            ending.givenUp = 1;
          };
          const onHead = (isTapped: boolean) => {
            ending.givenUp = isTapped ? undefined : 0;
          };
          const asked = { path, headers, body, signal, maxAnswer, operation, dialect, onSent, onHead, onUsage };
          const answer = await post(pool, asked);
          outcomes.answered(gatewayId, upstream, answer.status);
          if (isCredentialRefused(upstream, answer)) {
            outcomes.refusedCredential(gatewayId, upstream);
            return failed("the upstream refuses the gateway's credential");
          }
          if (answer.status !== 200) return refusal(answer.status, answer.headers);
          const servedBy = `${upstream.name} ${upstream.dialect} ${model}`;
          return { kind: "answered", format, answer: parsed(answer.text), servedBy };
        } finally {
          slots.release();
        }
      } catch (error) {
        const isGivenUp = cut.signal.aborted || isTimeout(error) || mayGoOnAfter(error);
        if (!isGivenUp && ending.givenUp !== undefined) ending.givenUp = 0;
        const why = cut.signal.aborted ? "the library's key may no longer be used" : whyOf(error, timeoutMs);
        outcomes.failed(gatewayId, upstream, why);
        return { ...failed(why), isOverrun: !cut.signal.aborted && isOverrun(error) };
      } finally {
        if (ending.givenUp !== undefined) over({ answer: undefined, givenUp: ending.givenUp });
        call.end();
      }
    },
    async close() {
      clearInterval(flush);
      await pools.close();
    },
  };
}

function rateFailure({ of, verdict }: MetRate): FailedCall {
  const retryAfterMs = Math.min(Math.ceil(verdict.retryAfter / NANOSECONDS), MAX_RETRY_AFTER_MS);
  return { ...failed(`the rate limit of the library's ${of} is used up`), retryAfterMs };
}

/** Undefined for a call that no budget bounds. */
async function reserveBudgets(
  { budgets }: Pick<CallerDeps, "budgets">,
  { key, model }: Pick<Way<CallFormat>, "key" | "model">,
  expected: ExpectedTokens | undefined,
): Promise<BudgetReservation | BudgetRefusal | undefined> {
  if (expected === undefined || !hasBudget(key)) return undefined;
  return budgets.reserve(key, { tokens: expected, models: [model] });
}

function budgetFailure(refusal: BudgetRefusal, now: number): FailedCall {
  const { detail, headers } = budgetProblem(refusal, now);
  const retryAfterMs = Math.min(Number(headers["retry-after"] ?? 3_600) * 1_000, MAX_RETRY_AFTER_MS);
  return { ...failed(detail), retryAfterMs };
}

function tooManyCalls(of: LimitOwner): string {
  return `the library's ${of} has too many calls under way`;
}

type Way<F> = {
  readonly key: KeyRecord;
  readonly gatewayId: string;
  readonly routeId: string | undefined;
  readonly limits: Resolved["limits"];
  readonly upstream: ReachableUpstream;
  readonly model: string;
  readonly format: F;
};

/** Decides a call, and where it goes. */
function findWay<F extends CallFormat>(
  deps: CallerDeps,
  formats: CallFormats<F>,
  { digest, publicId, model }: LibraryModel,
): Way<F> | FailedCall {
  const { index, streams } = deps;
  if (!index.isCurrent()) return failed("this server cannot prove at present that the library's key may be used");
  const found = index.findKey(digest);
  const gateway = index.findGateway(publicId);
  const dialect = gateway && dialectOf(gateway, model, formats);
  const format = dialect && formats[dialect];
  // No client asks: the team's networks are those of its callers.
  const judged = decideForKey(deps, found, { product: "gateway", operation: format?.operation, publicId }, null);
  if ("granted" in judged) {
    if (judged.code === "not_found") {
      return failed(`the gateway has no upstream that speaks ${Object.keys(formats).join(" or ")}`);
    }
    return failed(`the library's key is refused at its gateway (${judged.cause})`);
  }
  const { key } = judged;
  if (dialect === undefined || format === undefined || judged.gateway === null) return failed("the gateway is gone");
  const full = streams.fullOf(key);
  if (full !== undefined) return failed(tooManyCalls(full));
  // The declaration names the route: no caller does.
  const resolving = { allowedModels: key.allowedModels, mayResolveRoutes: true };
  const resolved = resolve(judged.gateway, resolving, dialect, model);
  if (resolved instanceof Problem) return failed(`the gateway does not serve the model: ${resolved.detail}`);
  const [candidate] = resolved.candidates;
  if (!isReachable(candidate)) return failed("the gateway has no credential for the upstream");
  const { upstream } = candidate;
  const { gatewayId } = judged.gateway;
  return {
    key,
    gatewayId,
    routeId: resolved.routeId,
    limits: resolved.limits,
    upstream,
    model: candidate.model ?? model,
    format,
  };
}

/** Of the route that the model names; else the first one that knows what is asked for. */
function dialectOf<F extends CallFormat>(
  { routes, upstreams }: GatewayRecord,
  model: string,
  formats: CallFormats<F>,
): Dialect | undefined {
  const named = routes.find((route) => route.model === model);
  const upstream = upstreams.find(({ name, dialect }) =>
    named === undefined ? formats[dialect] !== undefined : name === named.upstream,
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
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  /** Bytes. */
  readonly maxAnswer: number;
  readonly operation: GatewayOperation;
  readonly dialect: Dialect;
  /** Takes what an answer reported, once it is over, however it ended. */
  readonly onUsage: (usage: AnswerUsage, mostWritten: number) => void;
  /** Called once the call is on a connection: no upstream has any of it before. */
  readonly onSent: () => void;
  /** Called once the answer's head is there, with whether {@link onUsage} will be called for it. */
  readonly onHead: (isTapped: boolean) => void;
};
type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

class TooLongError extends Error {}

async function post(pool: Pool, asked: Post): Promise<Answer> {
  const { path, headers: given, body, signal, maxAnswer, onUsage } = asked;
  let interimAnswers = 0;
  const {
    statusCode: status,
    headers,
    body: answer,
  } = await pool.request({
    method: "POST",
    path,
    headers: {
      ...{ "content-type": "application/json", accept: "application/json", ...given },
      "content-length": String(Buffer.byteLength(body)),
    },
    body: Readable.from(noted(body, asked.onSent)),
    signal,
    onInfo: () => assertFewInterimAnswers(++interimAnswers),
  });
  const tap = openTap(asked, status, headers);
  asked.onHead(tap !== undefined);
  const pieces: Buffer[] = [];
  let length = 0;
  let isWhole = false;
  try {
    for await (const piece of answer) {
      length += piece.length;
      tap?.push(piece);
      if (length > maxAnswer) {
        // Of a refusal the status says enough.
        if (status !== 200) break;
        throw new TooLongError();
      }
      pieces.push(piece);
    }
    isWhole = true;
  } finally {
    tap?.end(isWhole, onUsage);
  }
  return { status, headers, text: Buffer.concat(pieces).toString() };
}

/** A body that says when it is read, which is when there is a connection. */
function* noted(body: string, onRead: () => void): Generator<Buffer> {
  onRead();
  yield Buffer.from(body);
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

function refusal(status: number, headers: IncomingHttpHeaders): FailedCall {
  const why = `the upstream answered ${status}`;
  if (REFUSED.has(status)) return { kind: "refused", why };
  const seconds = Number(headers["retry-after"]);
  if (!(seconds >= 0)) return failed(why);
  return { kind: "failed", why, retryAfterMs: Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS) };
}

function failed(why: string): FailedCall {
  return { kind: "failed", why };
}

function isOverrun(error: unknown): boolean {
  return error instanceof TooLongError || isTimeout(error);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

/** By codes alone: a message may hold what the other side sent. */
function whyOf(error: unknown, timeoutMs: number): string {
  if (error instanceof TooLongError) return "the upstream's answer was too long";
  if (isTimeout(error)) {
    return `the upstream did not answer within ${timeoutMs / 1_000} s`;
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^[A-Z0-9_]{1,64}$/.test(code) ? `the upstream cannot be reached: ${code}` : "the upstream cannot be reached";
}
