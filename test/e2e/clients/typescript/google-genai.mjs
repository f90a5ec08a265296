import * as sdk from "@google/genai";

export function GoogleGenAI(options, model = "gemini") {
  const { models } = new sdk.GoogleGenAI(options);
  const toolsOf = ({ name, description, parameters }) => [
    { functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] },
  ];
  return {
    async ask(contents) {
      return (await models.generateContent({ model, contents })).text;
    },
    async *pieces(contents, abortSignal) {
      const chunks = await models.generateContentStream({ model, contents, config: { abortSignal } });
      for await (const chunk of chunks) yield chunk.text ?? "";
    },
    async tools(tool) {
      const config = { tools: toolsOf(tool) };
      const question = { role: "user", parts: [{ text: tool.question }] };
      const called = await models.generateContent({ model, contents: [question], config });
      const [{ id, name, args }] = called.functionCalls;
      const response = { functionResponse: { id, name, response: { output: tool.result } } };
      const contents = [question, called.candidates[0].content, { role: "user", parts: [response] }];
      return { args, text: (await models.generateContent({ model, contents, config })).text };
    },
    async streamedTool(tool) {
      const config = { tools: toolsOf(tool) };
      const found = {};
      for await (const chunk of await models.generateContentStream({ model, contents: tool.question, config })) {
        for (const { args } of chunk.functionCalls ?? []) found.args = args;
        const { promptTokenCount: input, candidatesTokenCount: output } = chunk.usageMetadata;
        found.usage = { input, output };
      }
      return found;
    },
    async image({ question, mimeType, base64 }) {
      const contents = [sdk.createPartFromBase64(base64, mimeType), question];
      return (await models.generateContent({ model, contents })).text;
    },
    async structured({ question, schema }) {
      const config = { responseMimeType: "application/json", responseJsonSchema: schema };
      return JSON.parse((await models.generateContent({ model, contents: question, config })).text);
    },
  };
}
