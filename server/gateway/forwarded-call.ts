import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServedAt, ServedOperation } from "../../domain/access/gateway-operations.ts";
import type { Dialect, UpstreamRecord } from "../../domain/access/key-record.ts";
import type { CallEnd } from "../../domain/usage/token-reservation.ts";
import type { Logger } from "../../runtime/log.ts";
import type { OpenCall } from "../calls/calls.ts";
import type { Problem } from "../http/problems/problem.ts";
import type { RequestTrace } from "../telemetry/request-trace.ts";
import type { CountedAnswer } from "../usage/usage-recorder.ts";
import type { UpstreamPath } from "./classify.ts";
import type { RequestHead } from "./headers/headers.ts";
import type { Keeping } from "./kept/kept-call.ts";
import type { AnswerReading, UpstreamRead } from "./kept/whole-answer.ts";
import type { ForwardedBody } from "./model/requested-model.ts";
import type { Resolved } from "./resolve.ts";
import type { UpstreamPools } from "./upstream/pools.ts";
import type { UpstreamOutcomes } from "./upstream/upstream-outcomes.ts";
import type { UpstreamTimes } from "./upstream/upstream-times.ts";

/** Parts of the server that forwarding needs. */
export type ForwardingDeps = {
  readonly pools: UpstreamPools;
  readonly log: Logger;
  readonly times: UpstreamTimes;
  readonly outcomes: UpstreamOutcomes;
};

/** A call that has been authorised and resolved. */
export type ForwardedCall = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The call as it is tracked, since its head came. */
  readonly openCall: OpenCall;
  readonly gatewayId: string;
  /** Team of the gateway. */
  readonly teamId: string;
  readonly operation: ServedOperation;
  readonly method: ServedAt["method"];
  readonly dialect: Dialect;
  readonly path: UpstreamPath;
  /** Model to write into the path; undefined if the path names none. */
  readonly pathModel: string | undefined;
  readonly query: string;
  readonly head: RequestHead;
  readonly body: ForwardedBody;
  readonly resolved: Resolved;
  /**
   * Decides the call again, right before an upstream is asked; returns where it goes now, or the problem to answer.
   *
   * @param last result of the last decision
   */
  readonly resolveAgain: (last: Resolved) => Resolved | Problem;
  /** Called with what an answer reported, once the answer is over, however it ended. */
  readonly onAnswered: (answer: CountedAnswer) => void;
  /** Called once with how the call has ended; undefined if its usage is not settled. Its body was read whole. */
  readonly onOver: ((end: CallEnd) => void) | undefined;
  /** Model that its body names, for an answer that names none; undefined if that does not count. */
  readonly bodyModel: string | undefined;
  /** Objects that its answer may bring, whose owner is recorded before; undefined for none. */
  readonly keeping: Keeping | undefined;
  /** Reading of successful answers that are read whole; undefined if they pass as they come. */
  readonly reading: AnswerReading | undefined;
  /** Request that is made of the upstream before the call itself; undefined for none. */
  readonly before: UpstreamRead | undefined;
  /** Called if the upstream has deleted what the call names; undefined if the call deletes nothing. */
  readonly onDeleted: ((upstream: UpstreamRecord) => void) | undefined;
  /** Characters that it has spoken; 0 where none are counted. */
  readonly characters: number;
  /** The call in its caller's trace; null if nothing is traced. */
  readonly trace: RequestTrace | null;
};
