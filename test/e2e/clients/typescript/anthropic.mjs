import Sdk from "@anthropic-ai/sdk";
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";

export function Anthropic(options, model = "claude") {
  const { messages } = new Sdk(options);
  const asking = (content) => ({ model, max_tokens: 1000, messages: [{ role: "user", content }] });
  const toolOf = ({ name, description, parameters }) => ({ name, description, input_schema: parameters });
  const useIn = ({ content }) => content.find(({ type }) => type === "tool_use");
  const textIn = ({ content }) => content.find(({ type }) => type === "text").text;
  return {
    async ask(content) {
      return textIn(await messages.create(asking(content)));
    },
    async *pieces(content, signal) {
      for await (const event of messages.stream(asking(content), { signal })) {
        if (event.type === "content_block_delta" && event.delta.type === "text_delta") yield event.delta.text;
      }
    },
    async tools(tool) {
      const asked = { ...asking(tool.question), tools: [toolOf(tool)] };
      const called = await messages.create(asked);
      const use = useIn(called);
      const result = { type: "tool_result", tool_use_id: use.id, content: tool.result };
      const answer = await messages.create({
        ...asked,
        messages: [
          ...asked.messages,
          { role: "assistant", content: called.content },
          { role: "user", content: [result] },
        ],
      });
      return { args: use.input, text: textIn(answer) };
    },
    async streamedTool(tool) {
      const message = await messages.stream({ ...asking(tool.question), tools: [toolOf(tool)] }).finalMessage();
      const { input_tokens: input, output_tokens: output } = message.usage;
      return { args: useIn(message).input, usage: { input, output } };
    },
    async image({ question, mimeType, base64 }) {
      const picture = { type: "image", source: { type: "base64", media_type: mimeType, data: base64 } };
      return textIn(await messages.create(asking([picture, { type: "text", text: question }])));
    },
    async structured({ question, schema }) {
      const output_config = { format: jsonSchemaOutputFormat(schema) };
      return (await messages.parse({ ...asking(question), output_config })).parsed_output;
    },
  };
}
