import type { EmbedRequest, EmbedResult } from "./embed-request.ts";
import { checkVectors, EMBEDDING_FORMATS } from "./embedding-formats.ts";
import { type CallerDeps, createLibraryCaller } from "./library-call.ts";

/** Embeds texts through a gateway, as the gateway's callers do. */
export type TextEmbedder = {
  /** Embeds texts; never rejects. */
  embed(request: EmbedRequest): Promise<EmbedResult>;
  close(): Promise<void>;
};

/** Bytes of an answer at most, for each text: more than the longest vector takes, with a line for each number. */
const MAX_ANSWER_PER_TEXT = 256 << 10;

/** Creates an embedder that calls with libraries' keys. */
export function createTextEmbedder(deps: CallerDeps): TextEmbedder {
  const caller = createLibraryCaller(deps, { formats: EMBEDDING_FORMATS, userAgent: "keyplane-embeddings" });
  return {
    async embed({ texts, dimensions, ...request }) {
      const called = await caller.call({
        ...request,
        maxAnswer: texts.length * MAX_ANSWER_PER_TEXT,
        body: (format, model) => format.body(model, texts, dimensions ?? undefined),
      });
      if (called.kind !== "answered") return called;
      const vectors = checkVectors(called.format.vectorsOf(called.answer), texts.length, dimensions ?? undefined);
      if (typeof vectors === "string") return { kind: "failed", why: vectors, isDoubtful: true };
      return { kind: "vectors", vectors, servedBy: called.servedBy };
    },
    close: () => caller.close(),
  };
}
