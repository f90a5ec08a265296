from llama_index.core.llms import ChatMessage
from llama_index.llms import anthropic, google_genai, openai_like

QUESTION = [ChatMessage(role="user", content="Which model are you?")]


class Asking:
    def __init__(self, model):
        self.model = model

    def chat(self):
        return self.model.chat(QUESTION).message.content

    def stream(self):
        for chunk in self.model.stream_chat(QUESTION):
            yield chunk.delta or ""


def OpenAILike(options):
    return Asking(openai_like.OpenAILike(model="fast-chat", is_chat_model=True, **options))


def Anthropic(options):
    # It takes the names that it knows, and no others.
    return Asking(anthropic.Anthropic(model="claude-sonnet-4-5", **options))


def GoogleGenAI(options):
    # It asks for what it is not given, which a gateway knows of its routes alone.
    return Asking(google_genai.GoogleGenAI(model="gemini", max_tokens=1000, context_window=10000, **options))
