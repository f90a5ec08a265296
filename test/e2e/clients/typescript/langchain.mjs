import * as anthropic from "@langchain/anthropic";
import { HumanMessage } from "@langchain/core/messages";
import { tool as toolOf } from "@langchain/core/tools";
import * as google from "@langchain/google-genai";
import * as openai from "@langchain/openai";

export const ChatOpenAI = (options, model = "fast-chat") => asking(new openai.ChatOpenAI({ model, ...options }));
export const ChatAnthropic = (options, model = "claude") => asking(new anthropic.ChatAnthropic({ model, ...options }));
// It takes pictures for models whose names it knows.
export const ChatGoogleGenerativeAI = (options, model = "gemini-2.5-flash") =>
  asking(new google.ChatGoogleGenerativeAI({ model, ...options }));

// A stream of Google's that is aborted rejects a promise that its caller does not have.
process.on("unhandledRejection", () => {});

function asking(model) {
  const weatherOf = ({ name, description, parameters, result }) =>
    toolOf(() => result, { name, description, schema: parameters });
  return {
    async ask(question) {
      const { text } = await model.invoke(question);
      return text;
    },
    async *pieces(question, signal) {
      for await (const { text } of await model.stream(question, { signal })) yield text;
    },
    async tools(tool) {
      const weather = weatherOf(tool);
      const bound = model.bindTools([weather]);
      const messages = [new HumanMessage(tool.question)];
      const called = await bound.invoke(messages);
      const [call] = called.tool_calls;
      const { text } = await bound.invoke([...messages, called, await weather.invoke(call)]);
      return { args: call.args, text };
    },
    async streamedTool(tool) {
      let whole;
      for await (const chunk of await model.bindTools([weatherOf(tool)]).stream(tool.question)) {
        whole = whole?.concat(chunk) ?? chunk;
      }
      const { input_tokens: input, output_tokens: output } = whole.usage_metadata;
      return { args: whole.tool_calls[0].args, usage: { input, output } };
    },
    async image({ question, mimeType, base64 }) {
      const picture = { type: "image_url", image_url: { url: `data:${mimeType};base64,${base64}` } };
      const { text } = await model.invoke([new HumanMessage([{ type: "text", text: question }, picture])]);
      return text;
    },
    structured: ({ question, name, schema }) => model.withStructuredOutput(schema, { name }).invoke(question),
  };
}
