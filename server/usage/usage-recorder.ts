import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { OperationName } from "../../domain/access/operations.ts";

/** Who makes a request, as far as the network says; a Fastify request is one. */
export type Consumer = { readonly ip: string; readonly headers: { readonly "user-agent"?: string | undefined } };

export type UsageRecorder = {
  /** Notes that a key was used: one store in memory, written to the database in batches. */
  record(key: KeyRecord, at: number, consumer: Consumer): void;
  /** Counts a request that was let through to an operation: likewise. */
  countRequest(key: KeyRecord, operation: OperationName, at: number): void;
};
