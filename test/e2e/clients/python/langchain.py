import langchain_anthropic
import langchain_google_genai
import langchain_openai

QUESTION = "Which model are you?"


class Asking:
    def __init__(self, model):
        self.model = model

    def chat(self):
        return self.model.invoke(QUESTION).text

    def stream(self):
        for chunk in self.model.stream(QUESTION):
            yield chunk.text


def ChatOpenAI(options):
    return Asking(langchain_openai.ChatOpenAI(model="fast-chat", **options))


def ChatAnthropic(options):
    return Asking(langchain_anthropic.ChatAnthropic(model="claude", **options))


def ChatGoogleGenerativeAI(options):
    # Its own retries are of every refusal, for a minute.
    google = langchain_google_genai.ChatGoogleGenerativeAI
    return Asking(google(model="gemini", transport="rest", max_retries=1, **options))
