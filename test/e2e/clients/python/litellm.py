import json

from litellm import completion, stream_chunk_builder


class Asking:
    def __init__(self, model, options):
        self.asked = {"model": model, **options}

    def complete(self, content, **more):
        return completion(**self.asked, messages=[{"role": "user", "content": content}], **more)

    def ask(self, content):
        return self.complete(content).choices[0].message.content

    def pieces(self, content):
        for chunk in self.complete(content, stream=True):
            yield chunk.choices[0].delta.content or ""

    def tools(self, tool):
        asked = {**self.asked, "tools": tools_of(tool)}
        messages = [{"role": "user", "content": tool["question"]}]
        message = completion(**asked, messages=messages).choices[0].message
        [call] = message.tool_calls
        result = {"role": "tool", "tool_call_id": call.id, "name": tool["name"], "content": tool["result"]}
        answer = completion(**asked, messages=[*messages, message, result])
        return {"args": json.loads(call.function.arguments), "text": answer.choices[0].message.content}

    def streamed_tool(self, tool):
        asked = {"tools": tools_of(tool), "stream": True, "stream_options": {"include_usage": True}}
        whole = stream_chunk_builder(list(self.complete(tool["question"], **asked)))
        [call] = whole.choices[0].message.tool_calls
        usage = {"input": whole.usage.prompt_tokens, "output": whole.usage.completion_tokens}
        return {"args": json.loads(call.function.arguments), "usage": usage}

    def image(self, image):
        url = f"data:{image['mimeType']};base64,{image['base64']}"
        picture = {"type": "image_url", "image_url": {"url": url}}
        return self.ask([{"type": "text", "text": image["question"]}, picture])

    def structured(self, structured):
        json_schema = {"name": structured["name"], "schema": structured["schema"], "strict": True}
        response_format = {"type": "json_schema", "json_schema": json_schema}
        answer = self.complete(structured["question"], response_format=response_format)
        return json.loads(answer.choices[0].message.content)


def tools_of(tool):
    return [{"type": "function", "function": {member: tool[member] for member in ["name", "description", "parameters"]}}]


def openai(options, model="fast-chat"):
    return Asking(f"openai/{model}", options)


def anthropic(options, model="claude"):
    return Asking(f"anthropic/{model}", options)


def gemini(options, model="gemini-2.5-flash"):
    # For a model that it does not know it puts the schema into the prompt.
    return Asking(f"gemini/{model}", options)
