import * as anthropic from "@ai-sdk/anthropic";
import * as google from "@ai-sdk/google";
import * as openai from "@ai-sdk/openai";
import * as compatible from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";

export const createOpenAI = (options) => asking(openai.createOpenAI(options)("fast-chat"));
export const createAnthropic = (options) => asking(anthropic.createAnthropic(options)("claude"));
export const createGoogleGenerativeAI = (options) => asking(google.createGoogleGenerativeAI(options)("gemini"));
export const createOpenAICompatible = (options) =>
  asking(compatible.createOpenAICompatible({ name: "keyplane", ...options })("fast-chat"));

function asking(model) {
  const asked = { model, prompt: "Which model are you?" };
  return {
    async chat() {
      const { text } = await generateText(asked);
      return text;
    },
    stream: () => streamText(asked).textStream,
  };
}
