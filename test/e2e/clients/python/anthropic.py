import json

import anthropic


class Anthropic:
    def __init__(self, options, model="claude"):
        self.messages = anthropic.Anthropic(**options).messages
        self.asked = {"model": model, "max_tokens": 1000}

    def create(self, content, **more):
        return self.messages.create(**self.asked, messages=[{"role": "user", "content": content}], **more)

    def ask(self, content):
        return text_in(self.create(content))

    def pieces(self, content):
        with self.messages.stream(**self.asked, messages=[{"role": "user", "content": content}]) as events:
            yield from events.text_stream

    def tools(self, tool):
        asked = {**self.asked, "tools": [tool_of(tool)]}
        question = {"role": "user", "content": tool["question"]}
        called = self.messages.create(**asked, messages=[question])
        use = use_in(called)
        result = {"type": "tool_result", "tool_use_id": use.id, "content": tool["result"]}
        said = [question, {"role": "assistant", "content": called.content}, {"role": "user", "content": [result]}]
        return {"args": use.input, "text": text_in(self.messages.create(**asked, messages=said))}

    def streamed_tool(self, tool):
        question = {"role": "user", "content": tool["question"]}
        with self.messages.stream(**self.asked, messages=[question], tools=[tool_of(tool)]) as events:
            message = events.get_final_message()
        usage = {"input": message.usage.input_tokens, "output": message.usage.output_tokens}
        return {"args": use_in(message).input, "usage": usage}

    def image(self, image):
        source = {"type": "base64", "media_type": image["mimeType"], "data": image["base64"]}
        return self.ask([{"type": "image", "source": source}, {"type": "text", "text": image["question"]}])

    def structured(self, structured):
        output = {"format": {"type": "json_schema", "schema": structured["schema"]}}
        return json.loads(text_in(self.create(structured["question"], output_config=output)))


def tool_of(tool):
    return {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}


def text_in(message):
    return next(block.text for block in message.content if block.type == "text")


def use_in(message):
    return next(block for block in message.content if block.type == "tool_use")
