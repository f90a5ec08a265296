/** Longer than most files: one class holds all that a call waits for, and lets go of it however the call ends. */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { UpstreamRecord } from "../../domain/access/key-record.ts";
import { NOT_DONE } from "../../domain/usage/token-reservation.ts";
import { CUT_PROBLEMS, reserveBodyBytes } from "../calls/open-call.ts";
import { BodyPieces } from "../http/bodies/body-pieces.ts";
import { BodyCopies, LARGE_BODY } from "../http/bodies/received-body.ts";
import { reusedRoom } from "../http/bodies/reused-room.ts";
import { Problem, problem } from "../http/problems/problem.ts";
import { requestIdOf } from "../http/request-id.ts";
import type { UpstreamTrace } from "../telemetry/request-trace.ts";
import { AnswerPace } from "./answer-pace.ts";
import { ClientResponse } from "./client-response.ts";
import type { ForwardedCall, ForwardingDeps } from "./forwarded-call.ts";
import { type UpstreamHead, upstreamHeaders } from "./headers/headers.ts";
import { AnswerIds } from "./kept/answer-ids.ts";
import type { Keeping } from "./kept/kept-call.ts";
import { GIVEN_TWICE, REPEATED_ID, RepeatedIdError } from "./kept/repeated-id.ts";
import { UNRECORDED, UNRECORDED_OBJECT } from "./kept/team-objects.ts";
import { UnrecordedAnswer } from "./kept/unrecorded-answer.ts";
import { type AnswerReading, MOST_READ, UNREADABLE, type UpstreamRead } from "./kept/whole-answer.ts";
import { collectBody, passOnBody, SMALL_BODY } from "./request-body.ts";
import { upstreamTarget } from "./request-target.ts";
import { isSameCandidate, isSameUpstream, MOVED, type Resolved, type UpstreamCandidate } from "./resolve.ts";
import { type AnswerTap, codingOf, EVENT_STREAM, openTap } from "./tokens/answer-tap.ts";
import { mayBeAsked, type UpstreamPool } from "./upstream/pools.ts";
import { retryDelay } from "./upstream/retry.ts";
import { retryAfterMs } from "./upstream/retry-after.ts";
import { ABANDONED, type AskedAgain, type AttemptListener, UpstreamAttempt } from "./upstream/upstream-attempt.ts";
import {
  credentialRefused,
  isFallbackStatus,
  isRedirect,
  mayRefuseCredential,
  REFUSED_CREDENTIAL_REASON,
  RedirectError,
  refusesCredential,
  STALLED,
  type UpstreamFailure,
  upstreamFailure,
} from "./upstream/upstream-failure.ts";

const NOTHING = Buffer.alloc(0);
const ENDED = problem(
  "unavailable",
  "The answer was ended: its key may no longer be used, or this server is stopping.",
);
const TOO_LONG = problem("gateway_timeout", "The upstream's answer took longer than any may.");

/** Forwards one call, and answers it: nothing is thrown, and nothing is left open when the answer has ended. */
export function forward(deps: ForwardingDeps, call: ForwardedCall): void {
  new Exchange(deps, call).start();
}

/**
 * Body as it is sent to an upstream. The length is undefined for a buffer, which states its own, and for a chunked
 * body.
 */
type SentBody = { readonly length: number | undefined; readonly content: Buffer | Readable | null };

/** One client's call, which asks one upstream after the other. */
class Exchange implements AttemptListener {
  readonly #deps: ForwardingDeps;
  readonly #call: ForwardedCall;
  readonly #response: ClientResponse;
  /** Attempt that is under way; events of earlier attempts are ignored. */
  #attempt: UpstreamAttempt | undefined;
  #collected: Buffer | undefined;
  #done = false;
  /** Candidates of the call and its route, as last decided. */
  #resolved: Resolved;
  /** Timers of an answer that comes in several pieces. */
  #pace: AnswerPace | undefined;
  /** Leaves an upstream's queue; undefined while the call is in none. */
  #leaveQueue: (() => void) | undefined;
  /** Answer that is held back for what it names; undefined while there is none. */
  #held: UnrecordedAnswer | undefined;
  /** Answer that is read whole, and how it is answered; undefined while there is none. */
  #whole:
    | (Pick<AnswerReading, "push"> & { readonly pieces: BodyPieces; readonly take: (body: Buffer) => void })
    | undefined;
  /** Makes room for an answer that is read whole, one page after the other; undefined before the first. */
  #makeRoom: ReturnType<typeof reusedRoom> | undefined;
  /** True once the answer was read: the next one passes as it comes. */
  #wasRead = false;
  /** Timer of a retry; undefined while none is waited for. */
  #retry: NodeJS.Timeout | undefined;
  /** Monotonic milliseconds at which the first upstream was asked; 0 while no retry and no time is declared. */
  #askedAt = 0;
  /** Timer of an attempt whose route declares a time for it; undefined while there is none. */
  #patience: NodeJS.Timeout | undefined;
  /** Query to ask with. */
  #query: string;
  /** Request that is made before the call itself; undefined once its answer was read. */
  #before: UpstreamRead | undefined;
  /** Reader of the usage in the answer as it passes; undefined if the answer cannot report what the call used. */
  #tap: AnswerTap | undefined;

  constructor(deps: ForwardingDeps, call: ForwardedCall) {
    this.#deps = deps;
    this.#call = call;
    this.#resolved = call.resolved;
    this.#query = call.query;
    this.#before = call.before;
    this.#response = new ClientResponse(call.response, call);
  }

  start(): void {
    const { request, response, openCall, body } = this.#call;
    openCall.takeOver(
      (cause) => this.#cut(CUT_PROBLEMS[cause]),
      () => this.#finish(),
    );
    if (response.destroyed) this.#finish();
    else if (body !== "small") this.#askFirst();
    else {
      collectBody(request, openCall, (collected) => {
        if (this.#done) return;
        if (collected instanceof Problem) return this.#breakOff(collected);
        this.#collected = collected;
        if (this.#decideAgain()) this.#askFirst();
      });
    }
  }

  #askFirst(): void {
    const { candidates, retry, timeouts } = this.#resolved;
    if (retry !== undefined || timeouts !== undefined) this.#askedAt = performance.now();
    const next = candidates.length === 1 ? undefined : this.#next(undefined);
    this.#ask(next ?? candidates[0], undefined);
  }

  /** Decides the call again. Returns false if it may not be made any more, and has then broken it off. */
  #decideAgain(): boolean {
    const resolved = this.#call.resolveAgain(this.#resolved);
    if (resolved instanceof Problem) {
      this.#cut(resolved);
      return false;
    }
    this.#resolved = resolved;
    return true;
  }

  /**
   * Asks a candidate.
   *
   * @param before attempt of the same request before this one; undefined for none
   * @param again why the same candidate is asked again; undefined if it is another one
   */
  #ask(candidate: UpstreamCandidate, before: UpstreamAttempt | undefined, again?: AskedAgain): void {
    this.#stopPace();
    this.#dropHeld();
    clearTimeout(this.#patience);
    const attempt = new UpstreamAttempt(this, candidate, before, again);
    this.#attempt = attempt;
    if (this.#resolved.timeouts?.firstByteSeconds !== undefined) this.#startPatience(attempt);
    try {
      this.#dispatch(attempt);
    } catch (error) {
      attempt.release();
      this.onFailure(attempt, upstreamFailure(error, false));
    }
  }

  /** Asks a candidate as soon as its upstream has a free slot. */
  #dispatch(attempt: UpstreamAttempt): void {
    const { upstream } = attempt.candidate;
    if (!mayBeAsked(upstream)) {
      this.onFailure(attempt, { shown: NO_CREDENTIAL, refused: false, error: undefined });
      return;
    }
    const pool = this.#deps.pools.poolOf(this.#call.gatewayId, upstream, this.#call.teamId);
    if (pool.slots.tryTake()) {
      this.#send(attempt, pool);
      return;
    }
    const leave = pool.slots.wait(
      () => {
        this.#leaveQueue = undefined;
        attempt.slots = pool.slots;
        if (!this.mayBegin(attempt)) return attempt.release();
        try {
          this.#send(attempt, pool);
        } catch (error) {
          attempt.release();
          this.onFailure(attempt, upstreamFailure(error, false));
        }
      },
      () => this.onFailure(attempt, { shown: BUSY, refused: true, error: undefined }),
    );
    // A call that was refused at once may wait elsewhere by now.
    if (this.isActive(attempt)) this.#leaveQueue = leave;
  }

  #send(attempt: UpstreamAttempt, to: UpstreamPool): void {
    const { upstream, model } = attempt.candidate;
    const { method, head, path, pathModel } = this.#call;
    const before = this.#before;
    const { times } = this.#deps;
    const { firstByteSeconds, idleSeconds } = this.#resolved.timeouts ?? NO_TIMEOUTS;
    const isShort = firstByteSeconds === undefined && this.#mayBeReplaced(attempt);
    const { pool, fresh, prefixes, credentialHeader } = to;
    attempt.begin(to);
    if (this.#resolved.retry !== undefined && attempt.again === undefined) to.retries.earn();
    const { length, content } = this.#bodyFor({ upstream, model });
    attempt.trace = this.#traceOf(attempt.candidate);
    const sockets = attempt.again === "closed" ? fresh() : pool;
    sockets.dispatch(
      {
        method: before === undefined ? method : "GET",
        path:
          before === undefined
            ? upstreamTarget(prefixes, path, pathModel === undefined ? undefined : (model ?? pathModel), this.#query)
            : upstreamTarget(prefixes, before.path, undefined, ""),
        headers: upstreamHeaders(head, credentialHeader, length, attempt.trace?.headers),
        body: content,
        headersTimeout: isShort ? times.headWithFallback : times.head,
        // Of the same length as the head's mostly: the dispatcher makes two timers for each call where they differ.
        bodyTimeout: idleSeconds === undefined ? times.head : idleSeconds * 1_000,
      },
      attempt,
    );
    // It still carries out what was dispatched to it.
    if (attempt.again === "closed") void sockets.close();
  }

  #traceOf({ upstream, model }: UpstreamCandidate): UpstreamTrace | undefined {
    const { trace, operation, dialect, gatewayId, pathModel } = this.#call;
    if (trace === null) return undefined;
    const { routeId } = this.#resolved;
    return trace.ask({ operation, dialect, gatewayId, routeId, upstream: upstream.name, model: model ?? pathModel });
  }

  #bodyFor(candidate: UpstreamCandidate): SentBody {
    const { body, head, request } = this.#call;
    if (body === "none" || this.#before !== undefined) return { length: undefined, content: null };
    if (body === "stream") {
      const mayPass = () => this.#mayReach(candidate.upstream);
      return { length: head.contentLength, content: passOnBody(request, mayPass, () => this.#cut(ENDED)) };
    }
    const made = this.#collected ?? (typeof body === "function" ? body(candidate) : NOTHING);
    const isWhole = Buffer.isBuffer(made);
    const length = isWhole ? made.length : made.size;
    if (isWhole && length < LARGE_BODY) return { length: undefined, content: made };
    if (!isWhole && length <= SMALL_BODY) return { length: undefined, content: made.whole() };
    return { length, content: new BodyCopies(isWhole ? [made] : made.parts, () => this.#done) };
  }

  isActive(attempt: UpstreamAttempt): boolean {
    return !this.#done && this.#attempt === attempt && this.#retry === undefined;
  }

  /** Decides the call again after it has waited for the candidate; asks another one if the gateway leads there by now. */
  mayBegin(attempt: UpstreamAttempt): boolean {
    if (!this.#decideAgain()) return false;
    if (this.#resolved.candidates.some((each) => isSameCandidate(each, attempt.candidate))) return true;
    attempt.trace?.end();
    const next = this.#next(attempt);
    if (next === undefined) this.#breakOff(MOVED);
    else this.#ask(next, attempt);
    return false;
  }

  /** Handles the head of a candidate's answer: begins the answer with it, or asks the next candidate. */
  onHeaders(
    attempt: UpstreamAttempt,
    controller: Dispatcher.DispatchController,
    status: number,
    parsed: Readonly<IncomingHttpHeaders>,
  ): void {
    clearTimeout(this.#patience);
    this.#deps.outcomes.answered(this.#call.gatewayId, attempt.candidate.upstream, status);
    attempt.trace?.answered(status);
    if (isFallbackStatus(status) && this.#mayRepeat(status, parsed)) {
      if (this.#retryLater(attempt, retryAfterMs(parsed, Date.now()), UNUSABLE)) {
        attempt.trace?.end();
        controller.abort(ABANDONED);
        return;
      }
    }
    if (isFallbackStatus(status) && this.#next(attempt) !== undefined) {
      if (!this.#decideAgain()) return;
      // There may be no other one any more.
      const next = this.#next(attempt);
      if (next !== undefined) {
        attempt.trace?.end();
        this.#ask(next, this.#attempt);
        controller.abort(ABANDONED);
        return;
      }
    }
    if (refusesCredential(status)) {
      this.#refuseCredential(attempt);
      controller.abort(ABANDONED);
      return;
    }
    if (isRedirect(status)) throw new RedirectError(status);
    const notGiven = status === 403 || status === 404 ? this.#before?.notGiven : undefined;
    if (notGiven !== undefined) {
      this.#breakOff(notGiven);
      controller.abort(ABANDONED);
      return;
    }
    const raw = Array.isArray(controller.rawHeaders) ? controller.rawHeaders : [];
    const isHeld = mayRefuseCredential(attempt.candidate.upstream, status);
    const { routeId } = this.#resolved;
    const { pool } = attempt;
    if (pool === undefined) return;
    this.#tap = openTap(this.#call, status, parsed, pool.needle);
    const { keeping, onDeleted } = this.#call;
    const { reading } = this.#before ?? this.#call;
    const isSuccess = status < 300;
    // 202 promises a deletion that may fail.
    if (status === 200 || status === 204) onDeleted?.(attempt.candidate.upstream);
    if (reading !== undefined && isSuccess && !this.#wasRead)
      this.#readWhole(reading, attempt, controller, status, { raw, parsed });
    else if (keeping === undefined || !isSuccess)
      this.#response.begin({ status, isHeld }, { raw, parsed }, routeId, pool);
    else {
      this.#hold(keeping, attempt, controller, parsed, () =>
        this.#response.begin({ status, isHeld }, { raw, parsed }, routeId, pool),
      );
    }
  }

  /** Holds an answer back until it is recorded whose the objects are that it names. */
  #hold(
    { made, record }: Keeping,
    { candidate }: UpstreamAttempt,
    controller: Dispatcher.DispatchController,
    parsed: Readonly<IncomingHttpHeaders>,
    begin: () => void,
  ): void {
    if (codingOf(parsed["content-encoding"]) !== "identity") {
      this.#breakOff(CODED);
      return;
    }
    const { "content-type": type = "" } = parsed;
    const held = new UnrecordedAnswer({
      ids: new AnswerIds(made, EVENT_STREAM.test(type)),
      record: (found) => record(candidate.upstream, found),
      begin,
      pass: (chunk) => this.#response.write(chunk),
      onReleased: (flows) => {
        if (!controller.paused) return;
        if (flows) controller.resume();
        else this.#response.onceDrained(() => controller.resume());
      },
      onEnd: () => this.#endAnswer(),
      onFailure: (error) => {
        const about = { error, upstream: candidate.upstream.name, requestId: requestIdOf(this.#call.request) };
        if (error instanceof RepeatedIdError) {
          // What the answer says that it does not store may have any id, as Ollama's do: no call reaches it.
          if (made.unless !== undefined && held.says(new RegExp(`"${made.unless}": ?false`))) return;
          this.#deps.log.warn(about, GIVEN_TWICE);
          this.#breakOff(REPEATED_ID);
          return;
        }
        this.#deps.log.warn(about, "could not record an object's owner");
        // Without an owner no call may name it: an item of an answer that has begun cannot be named, and the answer goes on.
        if (!held.hasBegun) this.#breakOff(made.unless === undefined ? UNRECORDED_OBJECT : UNRECORDED);
      },
    });
    this.#held = held;
  }

  /** Keeps an answer until it has come whole, and answers with what its reading makes of it, or asks for the next page. */
  #readWhole(
    reading: AnswerReading,
    attempt: UpstreamAttempt,
    controller: Dispatcher.DispatchController,
    status: number,
    head: UpstreamHead,
  ): void {
    const { candidate, pool } = attempt;
    if (codingOf(head.parsed["content-encoding"]) !== "identity" || pool === undefined) {
      this.#breakOff(CODED);
      controller.abort(ABANDONED);
      return;
    }
    const { routeId } = this.#resolved;
    this.#whole = {
      pieces: new BodyPieces(),
      ...(reading.push && { push: reading.push }),
      take: (body) => {
        reading.take(candidate.upstream, body, head.parsed, status).then(
          (read) => {
            if (this.#done) return;
            if (read instanceof Problem) this.#breakOff(read);
            else if ("query" in read) {
              this.#before = undefined;
              this.#wasRead = read.passes === true;
              this.#askFurther(attempt, read.query);
            } else {
              this.#response.answer(status, head, read, routeId, pool);
              this.#finish(true);
            }
          },
          (error: unknown) => this.onFailure(attempt, { shown: UNREADABLE, refused: false, error }),
        );
      },
    };
  }

  /** Asks the same upstream again, by another query, if the call may still go there. */
  #askFurther({ candidate, trace }: UpstreamAttempt, query: string): void {
    trace?.end();
    if (!this.#decideAgain()) return;
    const [again] = this.#resolved.candidates.filter((each) => isSameCandidate(each, candidate));
    if (again === undefined) {
      this.#breakOff(MOVED);
      return;
    }
    this.#query = query;
    this.#ask(again, undefined);
  }

  #keepPiece(pieces: BodyPieces, chunk: Buffer): void {
    const size = pieces.size + chunk.length;
    this.#makeRoom ??= reusedRoom((bytes) => reserveBodyBytes(this.#call.openCall, bytes));
    const refusal = this.#makeRoom(size);
    if (size > MOST_READ) this.#breakOff(UNREADABLE);
    else if (refusal !== undefined) this.#breakOff(refusal);
    else pieces.add(chunk);
  }

  #dropHeld(): void {
    this.#whole = undefined;
    this.#held?.drop();
    this.#held = undefined;
  }

  /** Passes on a piece of the answer, and pauses the upstream while the client is slower. */
  onData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#whole !== undefined) {
      if (this.#whole.push === undefined) this.#keepPiece(this.#whole.pieces, chunk);
      else {
        const taken = this.#whole.push(chunk);
        // Many pieces may be there already, and others are served between them.
        controller.pause();
        const goOn = (): unknown => setImmediate(() => !this.#done && controller.resume());
        if (taken === undefined) goOn();
        else {
          const end = (refusal: Problem | undefined) => (refusal === undefined ? goOn() : this.#breakOff(refusal));
          taken.then(end, () => this.#breakOff(UNREADABLE));
        }
      }
      this.#tap?.push(chunk);
      if (!this.#done) this.#watchPace();
      return;
    }
    const held = this.#held;
    const flows = held === undefined ? this.#response.write(chunk) : held.push(chunk);
    this.#tap?.push(chunk);
    if (this.#response.isWhole) return;
    this.#watchPace();
    if (flows || controller.paused) return;
    controller.pause();
    if (held?.isRecording !== true) this.#response.onceDrained(() => controller.resume());
  }

  #watchPace(): void {
    if (this.#pace !== undefined) this.#pace.wait();
    else {
      const { times } = this.#deps;
      const idle = this.#resolved.timeouts?.idleSeconds;
      this.#pace = new AnswerPace(
        idle === undefined ? times : { ...times, silence: idle * 1_000 },
        () => this.#breakOff(TOO_LONG),
        () => this.#fallSilent(),
      );
    }
  }

  /**
   * Stops the timers: each attempt's answer has its own, so that an error that was held back uses up no time of its
   * fallback.
   */
  #stopPace(): void {
    this.#pace?.stop();
    this.#pace = undefined;
  }

  #fallSilent(): void {
    const attempt = this.#attempt;
    // While the client is slower than the upstream, the silence is ours.
    if (attempt?.controller?.paused === true) this.#pace?.wait();
    else if (attempt !== undefined) {
      this.onFailure(attempt, STALLED);
      attempt.controller?.abort(ABANDONED);
    }
  }

  onEnd(attempt: UpstreamAttempt): void {
    if (this.#response.heldErrorSays(REFUSED_CREDENTIAL_REASON)) {
      this.#refuseCredential(attempt);
      return;
    }
    if (this.#whole !== undefined) {
      this.#stopPace();
      this.#whole.take(this.#whole.pieces.whole());
    } else if (this.#held === undefined) this.#endAnswer();
    else this.#held.end();
  }

  #endAnswer(): void {
    this.#response.end();
    this.#finish(true);
  }

  /** @param isWhole true if the upstream's answer has come to its end */
  #count({ candidate, trace, atWork }: UpstreamAttempt, isWhole: boolean): void {
    const { gatewayId, pathModel, bodyModel, onAnswered, onOver } = this.#call;
    const tap = this.#tap;
    if (tap === undefined) {
      onOver?.({ answer: undefined, givenUp: atWork });
      trace?.end();
      return;
    }
    const { routeId } = this.#resolved;
    const askedModel = candidate.model ?? pathModel ?? bodyModel;
    tap.end(isWhole, (usage, written) => {
      onAnswered({ gatewayId, routeId, askedModel, usage });
      onOver?.({ answer: { usage, written }, givenUp: atWork });
      trace?.end(usage);
    });
  }

  #refuseCredential(attempt: UpstreamAttempt): void {
    this.#deps.outcomes.refusedCredential(this.#call.gatewayId, attempt.candidate.upstream);
    this.onFailure(attempt, credentialRefused(attempt.candidate.upstream));
  }

  onReusedSocket(attempt: UpstreamAttempt): boolean {
    // A body that passed as a stream is gone.
    if (attempt.again === "closed" || this.#call.body === "stream") return false;
    if (!this.#decideAgain()) return true;
    if (!this.#resolved.candidates.some((each) => isSameCandidate(each, attempt.candidate))) return false;
    attempt.trace?.failed("bad_gateway");
    this.#ask(attempt.candidate, this.#attempt, "closed");
    return true;
  }

  /** Handles an upstream's failure: asks the next candidate if it may, else answers the client with the failure. */
  onFailure(attempt: UpstreamAttempt, { shown, refused, error }: UpstreamFailure): void {
    clearTimeout(this.#patience);
    const { gatewayId, request } = this.#call;
    const { upstream } = attempt.candidate;
    this.#deps.outcomes.failed(gatewayId, upstream, shown.detail);
    attempt.trace?.failed(shown.code);
    const about = { gatewayId, upstream: upstream.name, status: shown.status, cause: shown.code };
    this.#deps.log.warn({ ...about, error, requestId: requestIdOf(request) }, "an upstream failed");
    if (refused && attempt.isUnsent && this.#retryLater(attempt, undefined, shown)) return;
    // An answer that is held back has been made: another upstream would make it once more.
    const isAnswered = this.#response.isAnswered || this.#held !== undefined || this.#whole !== undefined;
    if (refused && !isAnswered && this.#next(attempt) !== undefined) {
      if (!this.#decideAgain()) return;
      const next = this.#next(attempt);
      if (next !== undefined) {
        this.#ask(next, this.#attempt);
        return;
      }
    }
    this.#breakOff(shown);
  }

  /** Milliseconds until the answer has to begin, from the first attempt on; Infinity if none are declared. */
  get #firstByteMs(): number {
    return (this.#resolved.timeouts?.firstByteSeconds ?? Infinity) * 1_000;
  }

  /**
   * Gives an attempt its share of the time that its route declares until the first byte: as much of what is left as each
   * upstream that may be asked after it.
   */
  #startPatience(attempt: UpstreamAttempt): void {
    const { pools } = this.#deps;
    const isFree = (one: UpstreamCandidate) => !attempt.hasAsked(one) && !pools.isLeftOut(one.upstream);
    const others = this.#resolved.candidates.filter(isFree).length;
    const now = performance.now();
    // The route may have got its time since the call was first sent.
    this.#askedAt ||= now;
    const left = this.#askedAt + this.#firstByteMs - now;
    this.#patience = setTimeout(
      () => {
        this.#leaveQueue?.();
        this.#leaveQueue = undefined;
        attempt.stall();
        this.onFailure(attempt, STALLED);
        attempt.controller?.abort(ABANDONED);
      },
      Math.max(0, left / (others + 1)),
    );
  }

  /**
   * True if a call that was answered so may be sent to the same upstream again. A second time it would make a second
   * object of what it may have stored.
   */
  #mayRepeat(status: number, { "x-should-retry": advice }: Readonly<IncomingHttpHeaders>): boolean {
    return advice !== "false" && (status === 429 || this.#call.keeping === undefined);
  }

  /**
   * Asks the same upstream again after a while, if its route has it so, the call has time for it, and no other upstream
   * is better.
   *
   * @param askedMs what the upstream asks to wait; undefined if it asks for nothing
   * @param shown answer if no upstream may be asked by then
   * @returns false if it is not asked again
   */
  #retryLater(attempt: UpstreamAttempt, askedMs: number | undefined, shown: Problem): boolean {
    const { candidate, pool, retries } = attempt;
    const most = this.#resolved.retry?.attempts ?? 0;
    if (retries >= most || pool === undefined || this.#call.body === "stream") return false;
    if (this.#deps.pools.isLeftOut(candidate.upstream) && this.#mayBeReplaced(attempt)) return false;
    const delay = retryDelay(retries, askedMs, Math.random());
    const now = performance.now();
    this.#askedAt ||= now;
    const endsAt = this.#askedAt + Math.min(this.#deps.times.headWithFallback, this.#firstByteMs);
    if (delay === undefined || now + delay > endsAt || !pool.retries.tryTake()) return false;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      if (!this.#decideAgain()) return;
      const same = this.#resolved.candidates.find((each) => isSameCandidate(each, candidate));
      const next = same ?? this.#next(attempt);
      if (same !== undefined) this.#deps.outcomes.retries++;
      if (next === undefined) this.#breakOff(shown);
      else this.#ask(next, attempt, same && "failed");
    }, delay);
    return true;
  }

  /**
   * Returns the first of the route's present candidates that no attempt up to this one has asked, and of those that are
   * left out only if there is no other; undefined if none may be asked any more, as once a body passes as a stream: what
   * the upstream has of it is gone.
   */
  #next(attempt: UpstreamAttempt | undefined): UpstreamCandidate | undefined {
    if (this.#call.body === "stream" && attempt?.pool !== undefined) return undefined;
    let leftOut: UpstreamCandidate | undefined;
    for (const candidate of this.#resolved.candidates) {
      if (attempt?.hasAsked(candidate)) continue;
      if (!this.#deps.pools.isLeftOut(candidate.upstream)) return candidate;
      leftOut ??= candidate;
    }
    return leftOut;
  }

  /** True if this attempt's upstream, where it is silent, gives way to another that is no worse. */
  #mayBeReplaced(attempt: UpstreamAttempt): boolean {
    const { pools } = this.#deps;
    const next = this.#next(attempt);
    return next !== undefined && (!pools.isLeftOut(next.upstream) || pools.isLeftOut(attempt.candidate.upstream));
  }

  onLeftOut({ candidate: { upstream } }: UpstreamAttempt, milliseconds: number): void {
    const about = { gatewayId: this.#call.gatewayId, upstream: upstream.name, milliseconds };
    this.#deps.log.warn(about, "an upstream has failed several times in a row: routes with another one leave it out");
  }

  /**
   * Ends a call that may not go on. An answer that has begun ends with the same problem as every answer that is cut.
   */
  #cut(shown: Problem): void {
    this.#breakOff(this.#response.begun ? ENDED : shown);
  }

  /**
   * True if the call may still go to this upstream. Checked before each piece of a body, so that an upstream that may
   * not have the call never has all of it.
   */
  #mayReach(upstream: UpstreamRecord): boolean {
    if (this.#done || !this.#decideAgain()) return false;
    return this.#resolved.candidates.some((each) => isSameUpstream(each.upstream, upstream));
  }

  #breakOff(shown: Problem): void {
    if (this.#done) return;
    if (this.#response.begun) this.#call.trace?.breakOff(shown.code);
    this.#response.breakOff(shown);
    this.#finish();
  }

  /**
   * Releases everything that the exchange holds, however it ended.
   *
   * @param isWhole true if the upstream's answer has come to its end
   */
  #finish(isWhole = false): void {
    if (this.#done) return;
    this.#done = true;
    this.#dropHeld();
    this.#stopPace();
    this.#leaveQueue?.();
    clearTimeout(this.#retry);
    clearTimeout(this.#patience);
    this.#call.openCall.end();
    if (this.#attempt === undefined) this.#call.onOver?.(NOT_DONE);
    else this.#count(this.#attempt, isWhole);
    if (!isWhole) this.#attempt?.controller?.abort(ABANDONED);
    const { request } = this.#call;
    if (request.readableEnded) return;
    // A body that is no longer wanted is read to its end: else the connection could not be used again.
    request.unpipe();
    request.resume();
  }
}

const NO_CREDENTIAL = problem(
  "bad_gateway",
  "The gateway has no credential for this upstream at present: its owner creates the Secret that the ModelGateway names.",
);

const CODED = problem(
  "bad_gateway",
  "The upstream answered in a coding that it was not asked for: what it stores cannot be known.",
);

const UNUSABLE = problem("bad_gateway");

const NO_TIMEOUTS: NonNullable<Resolved["timeouts"]> = {};

const BUSY = problem("unavailable", "Too many calls to this upstream are under way: try again.");
