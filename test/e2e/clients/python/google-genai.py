from google import genai

ASKED = {"model": "gemini", "contents": "Which model are you?"}


class Client:
    def __init__(self, options):
        # Kept: the client closes its connections when it is collected.
        self.google = genai.Client(**options)

    def chat(self):
        return self.google.models.generate_content(**ASKED).text

    def stream(self):
        for chunk in self.google.models.generate_content_stream(**ASKED):
            yield chunk.text or ""
