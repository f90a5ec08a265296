import base64
import json

from google import genai
from google.genai import types


class Client:
    def __init__(self, options, model="gemini"):
        # Kept: the client closes its connections when it is collected.
        self.google = genai.Client(**options)
        self.model = model

    def generate(self, contents, **config):
        return self.google.models.generate_content(model=self.model, contents=contents, config=config)

    def stream(self, contents, **config):
        return self.google.models.generate_content_stream(model=self.model, contents=contents, config=config)

    def ask(self, contents):
        return self.generate(contents).text

    def pieces(self, contents):
        for chunk in self.stream(contents):
            yield chunk.text or ""

    def tools(self, tool):
        question = types.UserContent(parts=tool["question"])
        called = self.generate([question], tools=tools_of(tool))
        [call] = called.function_calls
        result = types.Part.from_function_response(name=call.name, response={"output": tool["result"]})
        contents = [question, called.candidates[0].content, types.UserContent(parts=[result])]
        return {"args": call.args, "text": self.generate(contents, tools=tools_of(tool)).text}

    def streamed_tool(self, tool):
        args = usage = None
        for chunk in self.stream(tool["question"], tools=tools_of(tool)):
            for call in chunk.function_calls or []:
                args = call.args
            counted = chunk.usage_metadata
            usage = {"input": counted.prompt_token_count, "output": counted.candidates_token_count}
        return {"args": args, "usage": usage}

    def image(self, image):
        picture = types.Part.from_bytes(data=base64.b64decode(image["base64"]), mime_type=image["mimeType"])
        return self.ask([picture, image["question"]])

    def structured(self, structured):
        config = {"response_mime_type": "application/json", "response_json_schema": structured["schema"]}
        return json.loads(self.generate(structured["question"], **config).text)


def tools_of(tool):
    declared = {"name": tool["name"], "description": tool["description"], "parameters_json_schema": tool["parameters"]}
    return [types.Tool(function_declarations=[types.FunctionDeclaration(**declared)])]
