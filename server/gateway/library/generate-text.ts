import type { FailedCall } from "./failed-call.ts";
import { GENERATION_FORMATS } from "./generation-formats.ts";
import { type CallerDeps, createLibraryCaller } from "./library-call.ts";
import type { LibraryModel } from "./library-target.ts";

/** Request for a text, made with a library's key. */
export type GenerateRequest = LibraryModel & {
  readonly instructions: string;
  /** Material that the instructions are about. */
  readonly material: string;
  readonly maxTokens: number;
  readonly timeoutMs: number;
  readonly waitMs?: number;
};

export type GenerateResult =
  | {
      readonly kind: "text";
      /** Text of the answer; undefined if it has none. */
      readonly text: string | undefined;
    }
  | FailedCall;

/** Generates text with models through a gateway, as the gateway's callers do. */
export type TextGenerator = {
  /** Generates a text; never rejects. */
  generate(request: GenerateRequest): Promise<GenerateResult>;
  close(): Promise<void>;
};

/** Bytes of an answer at most for each token that it may have; below, the bytes beside them. */
const MAX_ANSWER_PER_TOKEN = 64;
const MAX_ANSWER_BESIDE = 64 << 10;

/** Creates a generator of text that calls with libraries' keys. */
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
