import json

import openai


def user(content):
    return {"role": "user", "content": content}


class OpenAI:
    def __init__(self, options, model="fast-chat"):
        client = openai.OpenAI(**options)
        self.completions, self.model = client.chat.completions, model
        self.responses = Responses(client, model)

    def create(self, content, **more):
        return self.completions.create(model=self.model, messages=[user(content)], **more)

    def ask(self, content):
        return self.create(content).choices[0].message.content

    def pieces(self, content):
        with self.create(content, stream=True) as chunks:
            for chunk in chunks:
                for choice in chunk.choices:
                    yield choice.delta.content or ""

    def tools(self, tool):
        asked = {"model": self.model, "tools": [chat_tool(tool)]}
        messages = [user(tool["question"])]
        message = self.completions.create(**asked, messages=messages).choices[0].message
        [call] = message.tool_calls
        result = {"role": "tool", "tool_call_id": call.id, "content": tool["result"]}
        answer = self.completions.create(**asked, messages=[*messages, message, result])
        return {"args": json.loads(call.function.arguments), "text": answer.choices[0].message.content}

    def streamed_tool(self, tool):
        asked = {"model": self.model, "messages": [user(tool["question"])], "tools": [chat_tool(tool)]}
        with self.completions.stream(**asked, stream_options={"include_usage": True}) as events:
            completion = events.get_final_completion()
        [call] = completion.choices[0].message.tool_calls
        usage = {"input": completion.usage.prompt_tokens, "output": completion.usage.completion_tokens}
        return {"args": json.loads(call.function.arguments), "usage": usage}

    def image(self, image):
        url = f"data:{image['mimeType']};base64,{image['base64']}"
        picture = {"type": "image_url", "image_url": {"url": url}}
        return self.ask([{"type": "text", "text": image["question"]}, picture])

    def structured(self, structured):
        json_schema = {"name": structured["name"], "schema": structured["schema"], "strict": True}
        response_format = {"type": "json_schema", "json_schema": json_schema}
        completion = self.create(structured["question"], response_format=response_format)
        return json.loads(completion.choices[0].message.content)


class Responses:
    def __init__(self, client, model):
        # The provider keeps no response that is not asked for again.
        self.api, self.asked = client.responses, {"model": model, "store": False}

    def ask(self, content):
        return self.api.create(**self.asked, input=content).output_text

    def pieces(self, content):
        with self.api.create(**self.asked, input=content, stream=True) as events:
            for event in events:
                if event.type == "response.output_text.delta":
                    yield event.delta

    def tools(self, tool):
        asked = {**self.asked, "tools": [response_tool(tool)]}
        question = [user(tool["question"])]
        called = self.api.create(**asked, input=question, include=["reasoning.encrypted_content"])
        call = call_in(called)
        result = {"type": "function_call_output", "call_id": call.call_id, "output": tool["result"]}
        answer = self.api.create(**asked, input=[*question, *called.output, result])
        return {"args": json.loads(call.arguments), "text": answer.output_text}

    def streamed_tool(self, tool):
        with self.api.stream(**self.asked, input=tool["question"], tools=[response_tool(tool)]) as events:
            response = events.get_final_response()
        usage = {"input": response.usage.input_tokens, "output": response.usage.output_tokens}
        return {"args": json.loads(call_in(response).arguments), "usage": usage}

    def image(self, image):
        url = f"data:{image['mimeType']};base64,{image['base64']}"
        picture = {"type": "input_image", "detail": "auto", "image_url": url}
        return self.ask([user([{"type": "input_text", "text": image["question"]}, picture])])

    def structured(self, structured):
        output = {"type": "json_schema", "name": structured["name"], "schema": structured["schema"], "strict": True}
        return json.loads(
            self.api.create(**self.asked, input=structured["question"], text={"format": output}).output_text
        )


def call_in(response):
    return next(item for item in response.output if item.type == "function_call")


def function_of(tool):
    return {**{member: tool[member] for member in ["name", "description", "parameters"]}, "strict": True}


def chat_tool(tool):
    return {"type": "function", "function": function_of(tool)}


def response_tool(tool):
    return {"type": "function", **function_of(tool)}
