import type OpenAI from "openai";
import { expect, test } from "vitest";
import { terminalEvent } from "../../../../server/gateway/errors/dialect-errors.ts";
import { problem } from "../../../../server/http/problems/problem.ts";

const SHOWN = problem("bad_gateway");

test.each(["gateway.responses", "gateway.get_response"] as const)(
  "a stream of %s that is broken off ends with an event of the published form",
  (operation) => {
    const [name, data = ""] = terminalEvent("openai", operation, SHOWN).split("\ndata: ");
    expect(name).toBe("event: error");
    expect(data.endsWith("\n\n")).toBe(true);
    const event: OpenAI.Responses.ResponseErrorEvent & { readonly error: unknown } = JSON.parse(data);
    expect(event).toEqual({
      type: "error",
      sequence_number: 0,
      code: "bad_gateway",
      message: SHOWN.detail,
      param: null,
      error: { message: SHOWN.detail, type: "server_error", code: "bad_gateway", param: null },
    });
  },
);

test("a stream of chat completions that is broken off ends with an error alone", () => {
  const error = { message: SHOWN.detail, type: "server_error", code: "bad_gateway", param: null };
  expect(terminalEvent("openai", "gateway.chat_completions", SHOWN)).toBe(`data: ${JSON.stringify({ error })}\n\n`);
});
