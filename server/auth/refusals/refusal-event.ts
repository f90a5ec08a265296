import type { IncomingMessage } from "node:http";

/** A request that was refused, for the audit log. */
export type RefusalEvent = {
  /** Client that was refused: read only if it is kept, since a request works its address out when it is asked. */
  readonly client: { readonly ip: string | undefined; readonly raw: Pick<IncomingMessage, "rawHeaders" | "url"> };
  readonly at: number;
  readonly code: string;
  readonly cause: string;
  /** The last change that the index had applied. */
  readonly seq: number;
  readonly route: string | undefined;
  readonly keyId: string | null;
  readonly teamId: string | null;
  /** Time from which on a limit of tokens has capacity for such a call, in milliseconds since the epoch. */
  readonly until?: number | undefined;
  /** Actor that was refused, if it is known. */
  readonly principal?: string | undefined;
};

export type RefusalRecorder = {
  /** Takes a refusal for the audit log, off the request's path; samples, and counts what it has to drop. */
  record(refusal: RefusalEvent): void;
};
