"""Tries a client as docs/clients.md has it, and prints what came of it as JSON: run.mjs says how.

python run.py PROGRAM NAME ARGUMENT BASE_URL
"""

import json
import os
import runpy
import sys

program, name, argument, base_url = sys.argv[1:]
open_client = runpy.run_path(program)[name]


def client(api_key, url):
    option = url
    for member in reversed(argument.split(".")):
        option = {member: option}
    return open_client({"api_key": api_key, **option})


def message_of(refused):
    try:
        return f"not refused: {refused.chat()}"
    except Exception as error:
        return str(error)


key, other_key = os.environ["KEYPLANE_API_KEY"], os.environ["KEYPLANE_OTHER_KEY"]
right = client(key, base_url)
tried = {
    "chat": right.chat(),
    "stream": "".join(right.stream()),
    "wrongUrl": message_of(client(key, f"{base_url}/v1")),
    "wrongKey": message_of(client(other_key, base_url)),
}
print(json.dumps(tried))
