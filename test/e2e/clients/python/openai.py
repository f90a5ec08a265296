import openai

ASKED = {"model": "fast-chat", "messages": [{"role": "user", "content": "Which model are you?"}]}


class OpenAI:
    def __init__(self, options):
        self.completions = openai.OpenAI(**options).chat.completions

    def chat(self):
        return self.completions.create(**ASKED).choices[0].message.content

    def stream(self):
        for chunk in self.completions.create(**ASKED, stream=True):
            for choice in chunk.choices:
                yield choice.delta.content or ""
