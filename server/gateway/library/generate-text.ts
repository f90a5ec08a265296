import type { FailedCall } from "./failed-call.ts";
import { GENERATION_FORMATS } from "./generation-formats.ts";
import { type CallerDeps, createLibraryCaller } from "./library-call.ts";
import type { LibraryModel } from "./library-way.ts";

/** What a model is to answer, by a library's key. */
export type GenerateRequest = LibraryModel & {
  readonly instructions: string;
  /** What the instructions are about. */
  readonly material: string;
  readonly maxTokens: number;
  readonly timeoutMs: number;
};

export type GenerateResult =
  | {
      readonly kind: "text";
      /** Undefined for an answer without a text. */
      readonly text: string | undefined;
    }
  | FailedCall;

/** Has models generate text through a gateway, as the gateway's callers do. */
export type TextGenerator = {
  /** Never fails. */
  generate(request: GenerateRequest): Promise<GenerateResult>;
  close(): Promise<void>;
};

/** Of an answer, in bytes for each token that it may have, and beside them. */
const MAX_ANSWER_PER_TOKEN = 64;
const MAX_ANSWER_BESIDE = 64 << 10;

/** Makes what has models generate text by libraries' keys. */
export function createTextGenerator(deps: CallerDeps): TextGenerator {
  const caller = createLibraryCaller(deps, { formats: GENERATION_FORMATS, userAgent: "keyplane-extraction" });
  return {
    async generate({ instructions, material, maxTokens, ...request }) {
      const called = await caller.call({
        ...request,
        maxAnswer: MAX_ANSWER_BESIDE + maxTokens * MAX_ANSWER_PER_TOKEN,
        body: (format, model) => format.body(model, { instructions, material, maxTokens }),
      });
      return called.kind === "answered" ? { kind: "text", text: called.format.textOf(called.answer) } : called;
    },
    close: () => caller.close(),
  };
}
