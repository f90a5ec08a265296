import type { FailedCall } from "./failed-call.ts";
import type { LibraryModel } from "./library-target.ts";

/** Texts to be embedded by a library's key. */
export type EmbedRequest = LibraryModel & {
  /** Length of the vectors; null for the model's own. */
  readonly dimensions: number | null;
  readonly texts: readonly string[];
  readonly timeoutMs: number;
  readonly waitMs?: number;
};

export type EmbedResult =
  | {
      readonly kind: "vectors";
      /** One vector for each text, all of one length. */
      readonly vectors: readonly (readonly number[])[];
      /** Upstream and model that made the vectors: vectors of two models are not to be compared. */
      readonly servedBy: string;
    }
  | FailedCall;
