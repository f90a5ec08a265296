import langchain_anthropic
import langchain_google_genai
import langchain_openai
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool


class Asking:
    def __init__(self, model):
        self.model = model

    def ask(self, question):
        return self.model.invoke(question).text

    def pieces(self, question):
        for chunk in self.model.stream(question):
            yield chunk.text

    def tools(self, tool):
        weather = weather_of(tool)
        bound = self.model.bind_tools([weather])
        messages = [HumanMessage(tool["question"])]
        called = bound.invoke(messages)
        [call] = called.tool_calls
        answer = bound.invoke([*messages, called, weather.invoke(call)])
        return {"args": call["args"], "text": answer.text}

    def streamed_tool(self, tool):
        whole = None
        for chunk in self.model.bind_tools([weather_of(tool)]).stream(tool["question"]):
            whole = chunk if whole is None else whole + chunk
        counted = whole.usage_metadata
        usage = {"input": counted["input_tokens"], "output": counted["output_tokens"]}
        return {"args": whole.tool_calls[0]["args"], "usage": usage}

    def image(self, image):
        url = f"data:{image['mimeType']};base64,{image['base64']}"
        picture = {"type": "image_url", "image_url": {"url": url}}
        return self.model.invoke([HumanMessage([{"type": "text", "text": image["question"]}, picture])]).text

    def structured(self, structured):
        schema = {"title": structured["name"], "description": structured["description"], **structured["schema"]}
        return self.model.with_structured_output(schema).invoke(structured["question"])


def weather_of(tool):
    described = {"name": tool["name"], "description": tool["description"], "args_schema": tool["parameters"]}
    return StructuredTool.from_function(lambda city: tool["result"], **described)


def ChatOpenAI(options, model="fast-chat"):
    return Asking(langchain_openai.ChatOpenAI(model=model, stream_usage=True, **options))


def ChatAnthropic(options, model="claude"):
    return Asking(langchain_anthropic.ChatAnthropic(model=model, **options))


def ChatGoogleGenerativeAI(options, model="gemini"):
    # Its own retries are of every refusal, for a minute.
    google = langchain_google_genai.ChatGoogleGenerativeAI
    return Asking(google(model=model, transport="rest", max_retries=1, **options))
