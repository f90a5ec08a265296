/** Texts to be embedded by a library's key. */
export type EmbedRequest = {
  /** Of the key, which no caller presents. */
  readonly digest: string;
  readonly publicId: string;
  readonly model: string;
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
  | {
      /** The upstream does not take these texts; or nothing can be embedded at present. */
      readonly kind: "refused" | "failed";
      /** For people, in words without anything that the upstream has said. */
      readonly why: string;
      /** When to try again, where the upstream or the key's rate limit says. */
      readonly retryAfterMs?: number;
    };
