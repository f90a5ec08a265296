/** How the calls of an installation's users ended: what failed has to be a fault's stated effect. */

import { MAX_RUN_MS } from "../../../store/database/memory-database.ts";

/** What a call takes of the servers: an answer from memory alone, or the database. */
export type Needs = "key index" | "database";

/** 503 as a number of its own; `broken` is a connection that ended without an answer, twice in a row. */
export type Failure = 503 | "broken" | (string & {});

export type FailedCall = {
  readonly who: string;
  readonly needs: Needs;
  readonly failure: Failure;
  /** On the monotonic clock, in milliseconds. */
  readonly beganAt: number;
  readonly endedAt: number;
};

export type Calls = {
  /** Makes a call, once more where its connection broke. @returns undefined where it failed, which is noted */
  make<T>(who: string, needs: Needs, call: () => Promise<T>): Promise<T | undefined>;
  /** How many succeeded, by whose they were. */
  readonly succeeded: ReadonlyMap<string, number>;
  readonly failed: readonly FailedCall[];
};

export function recordCalls(): Calls {
  const succeeded = new Map<string, number>();
  const failed: FailedCall[] = [];
  return {
    succeeded,
    failed,
    async make(who, needs, call) {
      const beganAt = performance.now();
      try {
        // A server may close a kept connection as a call is on its way: that is for clients to repeat (RFC 9112 §9.3.1).
        const result = await call().catch((error: unknown) =>
          failureOf(error) === "broken" ? call() : Promise.reject(error),
        );
        succeeded.set(who, (succeeded.get(who) ?? 0) + 1);
        return result;
      } catch (error) {
        failed.push({ who, needs, failure: failureOf(error), beganAt, endedAt: performance.now() });
        return undefined;
      }
    },
  };
}

/** An answer that is none of those that were hoped for. */
export class StatusError extends Error {
  readonly status: number;
  constructor(status: number, text: string) {
    super(`${status}: ${text.slice(0, 300)}`);
    this.status = status;
  }
}

/** Of an SDK, an MCP client, fetch or {@link StatusError}. */
export function failureOf(error: unknown): Failure {
  const causes = causesOf(error);
  const status = causes.map((one) => Reflect.get(one, "status")).find((one) => typeof one === "number");
  // A stream that ends so has begun with 200.
  if (status === 503 || causes.some((one) => Reflect.get(one, "code") === "unavailable")) return 503;
  const words = causes.map((one) => `${Reflect.get(one, "code") ?? ""} ${Reflect.get(one, "message") ?? ""}`);
  if (status === undefined && words.some((text) => BROKEN.test(text))) return "broken";
  return words.join("; ").slice(0, 500);
}

/** As undici and the SDKs upon it say that no answer, or no whole one, came. */
const BROKEN =
  /ECONNRESET|ECONNREFUSED|EPIPE|UND_ERR_SOCKET|other side closed|socket hang up|terminated|Premature close/i;

function causesOf(error: unknown): object[] {
  return typeof error === "object" && error !== null ? [error, ...causesOf(Reflect.get(error, "cause"))] : [];
}

/** What a fault may do to calls while it lasts and until all has recovered. */
export type Effect = {
  /** By what a call needs: the failures that are as the docs say. */
  readonly [needs in Needs]?: readonly Failure[];
};

export type Struck = {
  readonly fault: string;
  readonly effect: Effect;
  readonly from: number;
  /** When all had recovered from it. */
  readonly to: number;
};

/**
 * What a failed call is owed to: a fault, or the memory's own limit, by which it stops with 503 what takes longer on a busy
 * machine (docs/decisions/memory-database.md).
 *
 * @returns undefined where nothing explains it
 */
export function causeOf(call: FailedCall, struck: readonly Struck[]): string | undefined {
  const { needs, failure, beganAt, endedAt } = call;
  const fault = struck.find(
    ({ effect, from, to }) => beganAt <= to && endedAt >= from && effect[needs]?.includes(failure),
  );
  if (fault !== undefined) return fault.fault;
  return needs === "database" && failure === 503 && endedAt - beganAt >= MAX_RUN_MS ? SLOW : undefined;
}

const SLOW = "the memory stopped what took too long";
