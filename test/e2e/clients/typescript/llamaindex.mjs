import * as anthropic from "@llamaindex/anthropic";
import * as google from "@llamaindex/google";
import * as llamaindex from "@llamaindex/openai";
import { extractText } from "llamaindex";

export const openai = (options) => asking(llamaindex.openai({ model: "fast-chat", ...options }));
export const gemini = (options) => asking(google.gemini({ model: "gemini", ...options }));
export const AnthropicSession = (options) =>
  asking(anthropic.anthropic({ model: "claude", session: new anthropic.AnthropicSession(options) }));

function asking(model) {
  const messages = [{ role: "user", content: "Which model are you?" }];
  return {
    async chat() {
      const { message } = await model.chat({ messages });
      return extractText(message.content);
    },
    async *stream() {
      for await (const { delta } of await model.chat({ messages, stream: true })) yield delta;
    },
  };
}
