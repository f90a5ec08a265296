import Sdk from "openai";

export function OpenAI(options) {
  const client = new Sdk(options);
  const asked = { model: "fast-chat", messages: [{ role: "user", content: "Which model are you?" }] };
  return {
    async chat() {
      const completion = await client.chat.completions.create(asked);
      return completion.choices[0].message.content;
    },
    async *stream() {
      const chunks = await client.chat.completions.create({ ...asked, stream: true });
      for await (const chunk of chunks) yield chunk.choices[0]?.delta.content ?? "";
    },
  };
}
