import type { IncomingMessage } from "node:http";

/** A request that was refused, for the audit log. */
export type RefusalEvent = {
  /** Where it came from: read only where it is kept, since a request works its address out when it is asked. */
  readonly client: { readonly ip: string; readonly raw: IncomingMessage };
  readonly at: number;
  readonly code: string;
  readonly cause: string;
  /** The last change that the index had applied. */
  readonly seq: number;
  readonly route: string | undefined;
  readonly keyId: string | null;
  readonly teamId: string | null;
  /** When such a call has room again, by what a limit of tokens has then, in milliseconds since the epoch. */
  readonly until?: number | undefined;
  /** Who was refused by the management API, where it knows them. */
  readonly principal?: string | undefined;
};

export type RefusalRecorder = {
  /** Takes a refusal for the audit log, off the request's path; samples, and counts what it has to drop. */
  record(refusal: RefusalEvent): void;
};
