import type { ServerResponse } from "node:http";
import { TOKENS_OF_A_CALL } from "./lanes.ts";

const USAGE = { prompt_tokens: 20, completion_tokens: TOKENS_OF_A_CALL - 20, total_tokens: TOKENS_OF_A_CALL };

/** Answers a call at once, as one that has used {@link TOKENS_OF_A_CALL}. */
export function answerOf(response: ServerResponse): void {
  const answer = JSON.stringify({ choices: [], model: "m", usage: USAGE });
  response.setHeader("content-type", "application/json").end(answer);
}

/** Answers a call with a stream of an event a second, which says at its end that it has used as much. */
export function streamFor(response: ServerResponse, seconds: number): void {
  const event = (data: object) => response.write(`data: ${JSON.stringify({ model: "m", ...data })}\n\n`);
  response.setHeader("content-type", "text/event-stream").flushHeaders();
  let passed = 0;
  const timer = setInterval(() => {
    if (++passed < seconds) return event({ choices: [{ index: 0, delta: { content: "word " } }] });
    event({ choices: [], usage: USAGE });
    response.end("data: [DONE]\n\n");
  }, 1_000);
  response.once("close", () => clearInterval(timer));
}
