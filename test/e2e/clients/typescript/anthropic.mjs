import Sdk from "@anthropic-ai/sdk";

export function Anthropic(options) {
  const client = new Sdk(options);
  const asked = { model: "claude", max_tokens: 100, messages: [{ role: "user", content: "Which model are you?" }] };
  return {
    async chat() {
      const message = await client.messages.create(asked);
      return message.content[0].text;
    },
    async *stream() {
      yield await client.messages.stream(asked).finalText();
    },
  };
}
