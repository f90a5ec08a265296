import * as sdk from "@google/genai";

export function GoogleGenAI(options) {
  const { models } = new sdk.GoogleGenAI(options);
  const asked = { model: "gemini", contents: "Which model are you?" };
  return {
    async chat() {
      const content = await models.generateContent(asked);
      return content.text;
    },
    async *stream() {
      for await (const chunk of await models.generateContentStream(asked)) yield chunk.text ?? "";
    },
  };
}
