from llama_index.core.llms import ChatMessage
from llama_index.llms import anthropic, google_genai, openai_like


class Asking:
    def __init__(self, model):
        self.model = model

    def ask(self, question):
        return self.model.chat([ChatMessage(role="user", content=question)]).message.content

    def pieces(self, question):
        for chunk in self.model.stream_chat([ChatMessage(role="user", content=question)]):
            yield chunk.delta or ""


def OpenAILike(options, model="fast-chat"):
    return Asking(openai_like.OpenAILike(model=model, is_chat_model=True, **options))


def Anthropic(options, model="claude-sonnet-4-5"):
    # It takes the names that it knows, and no others.
    return Asking(anthropic.Anthropic(model=model, **options))


def GoogleGenAI(options, model="gemini"):
    # It asks for what it is not given, which a gateway knows of its routes alone.
    return Asking(google_genai.GoogleGenAI(model=model, max_tokens=1000, context_window=10000, **options))
