import * as anthropic from "@langchain/anthropic";
import * as google from "@langchain/google-genai";
import * as openai from "@langchain/openai";

export const ChatOpenAI = (options) => asking(new openai.ChatOpenAI({ model: "fast-chat", ...options }));
export const ChatAnthropic = (options) => asking(new anthropic.ChatAnthropic({ model: "claude", ...options }));
export const ChatGoogleGenerativeAI = (options) =>
  asking(new google.ChatGoogleGenerativeAI({ model: "gemini", ...options }));

function asking(model) {
  const question = "Which model are you?";
  return {
    async chat() {
      const { text } = await model.invoke(question);
      return text;
    },
    async *stream() {
      for await (const { text } of await model.stream(question)) yield text;
    },
  };
}
