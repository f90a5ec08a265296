import * as anthropic from "@llamaindex/anthropic";
import * as google from "@llamaindex/google";
import * as llamaindex from "@llamaindex/openai";
import { extractText } from "llamaindex";

export const openai = (options, model = "fast-chat") => asking(llamaindex.openai({ model, ...options }));
export const gemini = (options, model = "gemini") => asking(google.gemini({ model, ...options }));
export const AnthropicSession = (options, model = "claude") =>
  asking(anthropic.anthropic({ model, session: new anthropic.AnthropicSession(options) }));

function asking(model) {
  const messagesOf = (content) => [{ role: "user", content }];
  return {
    async ask(question) {
      const { message } = await model.chat({ messages: messagesOf(question) });
      return extractText(message.content);
    },
    async *pieces(question) {
      for await (const { delta } of await model.chat({ messages: messagesOf(question), stream: true })) yield delta;
    },
  };
}
