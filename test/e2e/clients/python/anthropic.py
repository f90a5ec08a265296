import anthropic

ASKED = {"model": "claude", "max_tokens": 100, "messages": [{"role": "user", "content": "Which model are you?"}]}


class Anthropic:
    def __init__(self, options):
        self.messages = anthropic.Anthropic(**options).messages

    def chat(self):
        return self.messages.create(**ASKED).content[0].text

    def stream(self):
        with self.messages.stream(**ASKED) as events:
            yield from events.text_stream
