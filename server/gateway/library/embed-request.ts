import type { FailedCall } from "./failed-call.ts";
import type { LibraryModel } from "./library-way.ts";

/** Texts to be embedded by a library's key. */
export type EmbedRequest = LibraryModel & {
  /** Null for as many as the model gives. */
  readonly dimensions: number | null;
  readonly texts: readonly string[];
  readonly timeoutMs: number;
};

export type EmbedResult =
  | {
      readonly kind: "vectors";
      /** One for each text, all of one length. */
      readonly vectors: readonly (readonly number[])[];
      /** Which upstream and model made them: vectors of two are not to be compared. */
      readonly servedBy: string;
    }
  | FailedCall;
