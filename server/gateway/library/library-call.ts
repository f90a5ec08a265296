import { setTimeout as delay } from "node:timers/promises";
import { parseJson } from "../../../domain/parse-json.ts";
import { retryPauseMs } from "../../../store/libraries/retry-pause.ts";
import type { ServerDeps } from "../../product/deps.ts";
import type { Caller } from "../../usage/usage-recorder.ts";
import { upstreamTarget } from "../request-target.ts";
import type { OnUsage } from "../tokens/answer-reader.ts";
import { createAddressGuard } from "../upstream/addresses.ts";
import { createUpstreamPools, type ReachableUpstream } from "../upstream/pools.ts";
import {
  mayGoOnAfter,
  mayRefuseCredential,
  REFUSED_CREDENTIAL_REASON,
  refusesCredential,
} from "../upstream/upstream-failure.ts";
import { OUTCOMES_FLUSH_MS, UpstreamOutcomes } from "../upstream/upstream-outcomes.ts";
import type { CallFormat, CallFormats } from "./call-format.ts";
import {
  concurrencyFailure,
  type FailedCall,
  failedCall,
  isCallTimeout,
  isOverrun,
  limitFailure,
  statusFailure,
  UnsentError,
  whyCallFailed,
} from "./failed-call.ts";
import { type LibraryPostAnswer, postForLibrary } from "./library-post.ts";
import { reserveForLibrary } from "./library-reservation.ts";
import { findLibraryTarget, type LibraryModel, type LibraryTarget, refusalOfTarget } from "./library-target.ts";

type LibraryCall<F> = LibraryModel & {
  readonly timeoutMs: number;
  /** Milliseconds for which the call is made again while a limit refuses it; none by default. */
  readonly waitMs?: number;
  /** Bytes of the answer at most. */
  readonly maxAnswer: number;
  body(format: F, model: string): object;
};

type LibraryAnswer<F> =
  | {
      readonly kind: "answered";
      readonly format: F;
      /** Parsed answer, unchecked; undefined if it is no JSON. */
      readonly answer: unknown;
      /** Upstream and model that gave the answer. */
      readonly servedBy: string;
    }
  | FailedCall;

/** Calls models for libraries, as a gateway's callers do. */
export type LibraryCaller<F> = {
  /** Makes a call; never rejects. */
  call(request: LibraryCall<F>): Promise<LibraryAnswer<F>>;
  close(): Promise<void>;
};

export type CallerDeps = Pick<
  ServerDeps,
  "index" | "installationLimits" | "budgets" | "streams" | "usage" | "clock" | "log" | "store" | "config"
>;

type Calling<F extends CallFormat> = {
  readonly formats: CallFormats<F>;
  /** User agent under which the calls count in the use of a key. */
  readonly userAgent: string;
};

/** Slots of each upstream for libraries, beside those of the gateway's callers. */
const SLOTS = { calls: 8, queued: 64, queuedMs: 1_000 };

/**
 * Creates a caller of models for libraries. Each call is decided as a request with the library's key is, on this
 * replica's index, and is cut when the key ends. It keeps to the gateway's own rules for addresses, credentials and
 * models, and counts as a use of the key. A route's fallbacks are not asked: the library declares one model.
 */
export function createLibraryCaller<F extends CallFormat>(
  deps: CallerDeps,
  { formats, userAgent }: Calling<F>,
): LibraryCaller<F> {
  const { clock, config } = deps;
  const caller: Caller = { ip: "127.0.0.1", headers: { "user-agent": userAgent } };
  const pools = createUpstreamPools(createAddressGuard(config.allowedPrivateUpstreams), clock.monotonic, SLOTS);
  const outcomes = new UpstreamOutcomes(clock.now);
  const closing = new AbortController();
  const flush = setInterval(() => void outcomes.flush(deps), OUTCOMES_FLUSH_MS).unref();

  const callOnce = async (request: LibraryCall<F>): Promise<LibraryAnswer<F>> => {
    const { timeoutMs, maxAnswer } = request;
    const found = findLibraryTarget(deps, formats, request);
    if ("kind" in found) return found;
    const bodyFor = ({ format, model }: LibraryTarget<F>) => JSON.stringify(request.body(format, model));
    const reservation = await reserveForLibrary(deps, found, () => bodyFor(found));
    if ("kind" in reservation) return reservation;
    // Its key may have been revoked, or its gateway have changed, meanwhile.
    const target = findLibraryTarget(deps, formats, request);
    if ("kind" in target) {
      reservation.takeBack();
      return target;
    }
    const { key, gatewayId, routeId, limits, upstream, model, format } = target;
    const body = bodyFor(target);
    const { dialect } = upstream;
    /**
     * Number of upstreams that are given up if the call ends now; undefined once the usage in its answer settles the
     * call.
     */
    const ending: { givenUp: 0 | 1 | undefined } = { givenUp: 0 };
    const cut = new AbortController();
    const isCut = (): boolean => cut.signal.aborted || closing.signal.aborted;
    const call = deps.streams.track(key, () => cut.abort());
    if (typeof call === "string") {
      reservation.takeBack();
      return concurrencyFailure(call);
    }
    if (limits !== undefined && limits.concurrent !== null && !call.countFor(limits.id, limits.concurrent)) {
      call.end();
      reservation.takeBack();
      return concurrencyFailure("route");
    }
    const now = clock.now();
    deps.usage.record(key, now, caller);
    deps.usage.countRequest(key, format.operation, now);
    try {
      const sockets = pools.poolOf(gatewayId, upstream, key.teamId);
      const { slots, prefixes, credentialHeader } = sockets;
      if (!slots.tryTake()) return limitFailure("too many calls of libraries are under way at this upstream");
      try {
        const path = upstreamTarget(prefixes, format.path, format.namesModel ? model : undefined, "");
        const [name, credential = ""] = credentialHeader;
        const headers = { ...format.headers, ...(name !== undefined && { [name]: credential }) };
        const signal = AbortSignal.any([cut.signal, closing.signal, AbortSignal.timeout(timeoutMs)]);
        const { operation } = format;
        const { teamId } = key;
        const onUsage: OnUsage = (usage, written) => {
          deps.usage.countAnswer(key, { gatewayId, routeId, askedModel: model, usage }, clock.now());
          reservation.settle(dialect, { answer: { usage, written }, givenUp: 0 });
        };
        const onSent = () => {
          const refusal = refusalOfTarget(deps, formats, request, target);
          if (refusal !== undefined) throw new UnsentError(refusal);
          ending.givenUp = 1;
        };
        const onHead = (isTapped: boolean) => {
          ending.givenUp = isTapped ? undefined : 0;
        };
        const asked = { path, headers, body, signal, maxAnswer, operation, dialect, teamId, onSent, onHead, onUsage };
        const answer = await postForLibrary(sockets, asked);
        outcomes.answered(gatewayId, upstream, answer.status);
        if (isCredentialRefused(upstream, answer)) {
          outcomes.refusedCredential(gatewayId, upstream);
          return failedCall(
            upstream.credential === false
              ? "the upstream asks for a credential, and the gateway is declared to have none for it"
              : "the upstream refuses the gateway's credential",
          );
        }
        if (answer.status !== 200) return statusFailure(answer.status, answer.headers, clock.now());
        const servedBy = `${upstream.name} ${upstream.dialect} ${model}`;
        return { kind: "answered", format, answer: parseJson(answer.text), servedBy };
      } finally {
        slots.release();
      }
    } catch (error) {
      if (error instanceof UnsentError) return error.failure;
      const isSent = ending.givenUp !== 0;
      const isGivenUp = isCut() || isCallTimeout(error) || mayGoOnAfter(error);
      if (!isGivenUp && ending.givenUp !== undefined) ending.givenUp = 0;
      const why = cut.signal.aborted ? "the library's key may no longer be used" : whyCallFailed(error, timeoutMs);
      outcomes.failed(gatewayId, upstream, why);
      return { ...failedCall(why), isOverrun: !isCut() && isOverrun(error), isDoubtful: !isCut() && isSent };
    } finally {
      const { givenUp } = ending;
      if (givenUp !== undefined) reservation.settle(dialect, { answer: undefined, givenUp });
      call.end();
    }
  };

  return {
    async call(request) {
      const endsAt = clock.monotonic() + (request.waitMs ?? 0);
      for (let refusals = 0; ; refusals++) {
        const result = await callOnce(request);
        if (result.kind === "answered" || result.isLimited !== true) return result;
        const pauseMs = retryPauseMs(refusals, result.retryAfterMs);
        if (clock.monotonic() + pauseMs > endsAt) return result;
        await delay(pauseMs, undefined, { signal: closing.signal }).catch(() => {});
        if (closing.signal.aborted) return failedCall("the server stops");
      }
    },
    async close() {
      clearInterval(flush);
      // A call under way has not failed: it is given up, and its upstream may go on with it.
      closing.abort();
      await pools.close();
    },
  };
}

function isCredentialRefused(upstream: ReachableUpstream, { status, text }: LibraryPostAnswer): boolean {
  return refusesCredential(status) || (mayRefuseCredential(upstream, status) && REFUSED_CREDENTIAL_REASON.test(text));
}
