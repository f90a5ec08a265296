import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { OperationName } from "../../domain/access/operations.ts";
import type { AnswerUsage } from "../../domain/usage/tokens.ts";

/** Caller of a request, as far as the network says; a Fastify request is one. */
export type Caller = {
  /** Undefined if it is not known; {@link INTROSPECTION} for a service that asks about a key. */
  readonly ip: string | undefined;
  readonly headers: { readonly "user-agent"?: string | undefined };
};

/** A model's answer, and what it counts by. */
export type CountedAnswer = {
  readonly gatewayId: string;
  /** Undefined if the call named no route. */
  readonly routeId: string | undefined;
  /** Model that was asked for, for an answer that names none; undefined if it is not known. */
  readonly askedModel: string | undefined;
  readonly usage: AnswerUsage;
};

export type UsageRecorder = {
  /** Notes that a key was used: one store in memory, written to the database in batches. */
  record(key: KeyRecord, at: number, caller: Caller): void;
  /** Notes that a call of a key has read or written in a library: likewise. */
  noteLibrary(key: KeyRecord, libraryId: string, at: number): void;
  /** Counts a request that was let through to an operation: likewise. */
  countRequest(key: KeyRecord, operation: OperationName, at: number): void;
  /** Counts what a model's answer to a key used: likewise. */
  countAnswer(key: KeyRecord, answer: CountedAnswer, at: number): void;
};
