import Sdk from "openai";

export function OpenAI(options, model = "fast-chat") {
  const client = new Sdk(options);
  return { ...chatCompletions(client, model), responses: responses(client, model) };
}

function chatCompletions({ chat: { completions } }, model) {
  const user = (content) => ({ role: "user", content });
  const functionOf = ({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters, strict: true },
  });
  return {
    async ask(content) {
      const completion = await completions.create({ model, messages: [user(content)] });
      return completion.choices[0].message.content;
    },
    async *pieces(content, signal) {
      const chunks = await completions.create({ model, messages: [user(content)], stream: true }, { signal });
      for await (const chunk of chunks) yield chunk.choices[0]?.delta.content ?? "";
    },
    async tools(tool) {
      const asked = { model, messages: [user(tool.question)], tools: [functionOf(tool)] };
      const [{ message }] = (await completions.create(asked)).choices;
      const [call] = message.tool_calls;
      const result = { role: "tool", tool_call_id: call.id, content: tool.result };
      const answer = await completions.create({ ...asked, messages: [...asked.messages, message, result] });
      return { args: JSON.parse(call.function.arguments), text: answer.choices[0].message.content };
    },
    async streamedTool(tool) {
      const runner = completions.stream({
        model,
        messages: [user(tool.question)],
        tools: [functionOf(tool)],
        stream_options: { include_usage: true },
      });
      const { choices } = await runner.finalChatCompletion();
      const { prompt_tokens: input, completion_tokens: output } = await runner.totalUsage();
      return { args: JSON.parse(choices[0].message.tool_calls[0].function.arguments), usage: { input, output } };
    },
    async image({ question, mimeType, base64 }) {
      const picture = { type: "image_url", image_url: { url: `data:${mimeType};base64,${base64}` } };
      const messages = [user([{ type: "text", text: question }, picture])];
      return (await completions.create({ model, messages })).choices[0].message.content;
    },
    async structured({ question, name, schema }) {
      const response_format = { type: "json_schema", json_schema: { name, schema, strict: true } };
      const completion = await completions.create({ model, messages: [user(question)], response_format });
      return JSON.parse(completion.choices[0].message.content);
    },
  };
}

function responses(client, model) {
  // The provider keeps no response that is not asked for again.
  const create = (body, options) => client.responses.create({ model, store: false, ...body }, options);
  const functionOf = ({ name, description, parameters }) => ({
    type: "function",
    ...{ name, description, parameters },
    strict: true,
  });
  const argsOf = ({ output }) => JSON.parse(output.find(({ type }) => type === "function_call").arguments);
  return {
    async ask(input) {
      return (await create({ input })).output_text;
    },
    async *pieces(input, signal) {
      for await (const event of await create({ input, stream: true }, { signal })) {
        if (event.type === "response.output_text.delta") yield event.delta;
        if (event.type === "error") throw new Error(event.message);
      }
    },
    async tools(tool) {
      const asked = { input: [{ role: "user", content: tool.question }], tools: [functionOf(tool)] };
      const called = await create({ ...asked, include: ["reasoning.encrypted_content"] });
      const { call_id } = called.output.find(({ type }) => type === "function_call");
      const result = { type: "function_call_output", call_id, output: tool.result };
      const answer = await create({ ...asked, input: [...asked.input, ...called.output, result] });
      return { args: argsOf(called), text: answer.output_text };
    },
    async streamedTool(tool) {
      const body = { model, store: false, input: tool.question, tools: [functionOf(tool)] };
      const response = await client.responses.stream(body).finalResponse();
      const { input_tokens: input, output_tokens: output } = response.usage;
      return { args: argsOf(response), usage: { input, output } };
    },
    async image({ question, mimeType, base64 }) {
      const picture = { type: "input_image", detail: "auto", image_url: `data:${mimeType};base64,${base64}` };
      const content = [{ type: "input_text", text: question }, picture];
      return (await create({ input: [{ role: "user", content }] })).output_text;
    },
    async structured({ question, name, schema }) {
      const format = { type: "json_schema", name, schema, strict: true };
      return JSON.parse((await create({ input: question, text: { format } })).output_text);
    },
  };
}
