from litellm import completion

MESSAGES = [{"role": "user", "content": "Which model are you?"}]


class Asking:
    def __init__(self, model, options):
        self.asked = {"model": model, "messages": MESSAGES, **options}

    def chat(self):
        return completion(**self.asked).choices[0].message.content

    def stream(self):
        for chunk in completion(**self.asked, stream=True):
            yield chunk.choices[0].delta.content or ""


def openai(options):
    return Asking("openai/fast-chat", options)


def anthropic(options):
    return Asking("anthropic/claude", options)


def gemini(options):
    return Asking("gemini/gemini", options)
