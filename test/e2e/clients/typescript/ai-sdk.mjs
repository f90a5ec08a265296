import * as anthropic from "@ai-sdk/anthropic";
import * as google from "@ai-sdk/google";
import * as openai from "@ai-sdk/openai";
import * as compatible from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, Output, isStepCount, streamText, tool } from "ai";

export const createOpenAI = (options, model = "fast-chat") => asking(openai.createOpenAI(options)(model));
export const createAnthropic = (options, model = "claude") => asking(anthropic.createAnthropic(options)(model));
export const createGoogleGenerativeAI = (options, model = "gemini") =>
  asking(google.createGoogleGenerativeAI(options)(model));
export const createOpenAICompatible = (options, model = "fast-chat") =>
  asking(
    compatible.createOpenAICompatible({
      name: "keyplane",
      includeUsage: true,
      supportsStructuredOutputs: true,
      ...options,
    })(model),
  );

function asking(model) {
  return {
    async ask(prompt) {
      const { text } = await generateText({ model, prompt });
      return text;
    },
    async *pieces(prompt, abortSignal) {
      // Its text stream ends without a word where the answer breaks off.
      const { fullStream } = streamText({ model, prompt, abortSignal, onError() {} });
      for await (const part of fullStream) {
        if (part.type === "text-delta") yield part.text;
        if (part.type === "error") throw part.error;
      }
    },
    async tools({ question, name, description, parameters, result }) {
      const found = {};
      const execute = (args) => {
        found.args = args;
        return result;
      };
      const tools = { [name]: tool({ description, inputSchema: jsonSchema(parameters), execute }) };
      const { text } = await generateText({ model, prompt: question, tools, stopWhen: isStepCount(2) });
      return { ...found, text };
    },
    async streamedTool({ question, name, description, parameters }) {
      const tools = { [name]: tool({ description, inputSchema: jsonSchema(parameters) }) };
      const { toolCalls, usage } = streamText({ model, prompt: question, tools });
      const [{ input: args }] = await toolCalls;
      const { inputTokens: input, outputTokens: output } = await usage;
      return { args, usage: { input, output } };
    },
    async image({ question, mimeType, base64 }) {
      const picture = { type: "file", mediaType: mimeType, data: base64 };
      const messages = [{ role: "user", content: [{ type: "text", text: question }, picture] }];
      const { text } = await generateText({ model, messages });
      return text;
    },
    async structured({ question, schema }) {
      const output = Output.object({ schema: jsonSchema(schema) });
      return (await generateText({ model, prompt: question, output })).output;
    },
  };
}
