import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { UpstreamTrace } from "../../telemetry/request-trace.ts";
import { isSameCandidate, type UpstreamCandidate } from "../resolve.ts";
import { assertFewInterimAnswers } from "./interim-answers.ts";
import type { UpstreamPool } from "./pools.ts";
import { wasReused } from "./reused-socket.ts";
import { mayGoOnAfter, type UpstreamFailure, upstreamFailure } from "./upstream-failure.ts";
import type { UpstreamSlots } from "./upstream-slots.ts";

/**
 * Reason for which a request to an upstream is given up: its client has gone, or its answer is not wanted. Made once
 * for all: it is never shown.
 */
export const ABANDONED = new Error("the call was given up");

/** Call that makes the attempt: notified of its events only while it is active. */
export type AttemptListener = {
  /** True if the call still waits for this attempt's answer. */
  isActive(attempt: UpstreamAttempt): boolean;
  /**
   * Called once there is a connection, for which the attempt may have waited.
   *
   * @returns false if the upstream may not have the call any more: another one has been asked, or the call is over
   */
  mayBegin(attempt: UpstreamAttempt): boolean;
  onHeaders(
    attempt: UpstreamAttempt,
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<IncomingHttpHeaders>,
  ): void;
  onData(controller: Dispatcher.DispatchController, chunk: Buffer): void;
  onEnd(attempt: UpstreamAttempt): void;
  /** Called if the upstream has failed so often in a row that it is left out for some milliseconds. */
  onLeftOut(attempt: UpstreamAttempt, milliseconds: number): void;
  onFailure(attempt: UpstreamAttempt, failure: UpstreamFailure): void;
  /**
   * Called if the upstream closed a reused socket instead of answering.
   *
   * @returns true if the call has been asked once more or is over; else it failed
   */
  onReusedSocket(attempt: UpstreamAttempt): boolean;
};

/**
 * Reason for which a candidate is asked again: its reused socket was `closed`, and it is asked on a socket of its own;
 * or it has `failed`, and is retried.
 */
export type AskedAgain = "closed" | "failed";

/** Attempt at one candidate of a call: handles the dispatcher's events. */
export class UpstreamAttempt implements Dispatcher.DispatchHandler {
  readonly #listener: AttemptListener;
  readonly candidate: UpstreamCandidate;
  /** Attempt before this one. */
  readonly #before: UpstreamAttempt | undefined;
  /** Controller of the request; undefined before it is on a socket. */
  controller: Dispatcher.DispatchController | undefined;
  /** Pool of the upstream; undefined before it is asked. */
  pool: UpstreamPool | undefined;
  /** Slots of the upstream, of which the call holds one; undefined while it holds none. */
  slots: UpstreamSlots | undefined;
  /** Part of the call's trace; undefined before the upstream is asked, and if nothing is traced. */
  trace: UpstreamTrace | undefined;
  /** Mark of the attempt at the upstream's breaker. */
  #mark = 0;
  #interimAnswers = 0;
  /** True once the upstream has answered, or has failed for certain. */
  #isDecided = false;
  /** Reason for which the candidate is asked again; undefined if it is asked for the first time. */
  readonly again: AskedAgain | undefined;
  /** Number of retries at the candidate, this one included. */
  readonly retries: number;

  /** @param before attempt of the same request before this one; undefined for none */
  constructor(
    listener: AttemptListener,
    candidate: UpstreamCandidate,
    before: UpstreamAttempt | undefined,
    again: AskedAgain | undefined,
  ) {
    this.#listener = listener;
    this.candidate = candidate;
    this.#before = before;
    this.again = again;
    const retriesBefore = again === undefined ? 0 : (before?.retries ?? 0);
    this.retries = again === "failed" ? retriesBefore + 1 : retriesBefore;
  }

  /** True if this attempt, or one before it, asked the candidate. */
  hasAsked(candidate: UpstreamCandidate): boolean {
    return isSameCandidate(this.candidate, candidate) || this.#before?.hasAsked(candidate) === true;
  }

  /** Number of upstreams, up to this attempt's, that have the call and may go on with it once they are given up. */
  get atWork(): number {
    const isAtWork = this.controller !== undefined && !this.#isDecided;
    return (isAtWork ? 1 : 0) + (this.#before?.atWork ?? 0);
  }

  /** True if it has failed before it was on a socket. */
  get isUnsent(): boolean {
    return this.pool !== undefined && this.controller === undefined && this.slots === undefined;
  }

  /** Notes that the upstream is asked, with a slot of it taken. */
  begin(pool: UpstreamPool): void {
    this.pool = pool;
    this.slots = pool.slots;
    this.#mark = pool.breaker.begin();
  }

  /** Gives the slot back: the upstream may be asked by another call. */
  release(): void {
    const { slots } = this;
    this.slots = undefined;
    this.pool?.breaker.givenUp(this.#mark);
    slots?.release();
  }

  /** Notes that the upstream was silent for longer than the call waits. */
  stall(): void {
    if (!this.#isDecided) this.#fail();
  }

  #fail(): void {
    const leftOutMs = this.pool?.breaker.failed(this.#mark, this.again === "failed");
    if (leftOutMs !== undefined) this.#listener.onLeftOut(this, leftOutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A call that has left this attempt before it had a connection has sent the upstream nothing.
    if (this.#listener.isActive(this) && this.#listener.mayBegin(this)) this.controller = controller;
    else controller.abort(ABANDONED);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<IncomingHttpHeaders>,
  ): void {
    if (status < 200) {
      assertFewInterimAnswers(++this.#interimAnswers);
      return;
    }
    this.#isDecided = true;
    if (status >= 500) this.#fail();
    else this.pool?.breaker.succeeded(this.#mark);
    if (this.#listener.isActive(this)) this.#listener.onHeaders(this, controller, status, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#listener.isActive(this)) this.#listener.onData(controller, chunk);
  }

  onResponseEnd(): void {
    this.release();
    if (this.#listener.isActive(this)) this.#listener.onEnd(this);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const sent = this.controller !== undefined;
    const isActive = this.#listener.isActive(this);
    const isReused = wasReused(error, sent);
    // An idle connection that is closed is no failure of the upstream.
    if (isActive && !isReused && !this.#isDecided) this.#fail();
    this.release();
    if (!isActive) return;
    this.#isDecided ||= !mayGoOnAfter(error);
    if (isReused && this.#listener.onReusedSocket(this)) return;
    this.#listener.onFailure(this, upstreamFailure(error, sent));
  }
}
