/** Anthropic's dialect: messages and token counts. */
import { type Body, countOf, type StubAnswer, tokensOf } from "./answer.ts";

export function messages(body: Body): StubAnswer {
  const tokens = tokensOf(body.model);
  const input_tokens = countOf(body.messages);
  const message = (content: object[], stop_reason: string | null, output_tokens: number) => ({
    id: "msg_stub",
    type: "message",
    role: "assistant",
    model: body.model,
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens, output_tokens },
  });
  if (body.stream !== true) {
    return { json: message([{ type: "text", text: tokens.join("") }], "end_turn", tokens.length) };
  }
  const events: [string, object][] = [
    ["message_start", { message: message([], null, 0) }],
    ["content_block_start", { index: 0, content_block: { type: "text", text: "" } }],
    ...tokens.map((text): [string, object] => [
      "content_block_delta",
      { index: 0, delta: { type: "text_delta", text } },
    ]),
    ["content_block_stop", { index: 0 }],
    [
      "message_delta",
      { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: tokens.length } },
    ],
    ["message_stop", {}],
  ];
  return { events: events.map(([type, data]) => [type, { type, ...data }]) };
}

export function countMessageTokens(body: Body): StubAnswer {
  return { json: { input_tokens: countOf(body.messages) } };
}

export function anthropicError(status: number, type: string, message: string): StubAnswer {
  return { status, json: { type: "error", error: { type, message } } };
}
