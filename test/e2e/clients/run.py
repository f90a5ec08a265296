"""Tries a client as docs/clients.md has it, and prints the outcome as JSON: run.mjs says how.

python run.py PROGRAM NAME ARGUMENT BASE_URL
"""

import base64
import gc
import json
import os
import pathlib
import runpy
import sys
import uuid

program, name, argument, base_url = sys.argv[1:]
open_client = runpy.run_path(program)[name]
here = pathlib.Path(__file__).parent
asked = json.loads((here / "asked.json").read_text())
QUESTION = "Which model are you?"
# The outcome of what a client does not offer.
NOT_TRIED = "not tried"


def client(api_key, url):
    option = url
    for member in reversed(argument.split(".")):
        option = {member: option}
    model = [os.environ["KEYPLANE_MODEL"]] if "KEYPLANE_MODEL" in os.environ else []
    return open_client({"api_key": api_key, **option}, *model)


def outcome(operation):
    """Returns what an operation returns, or how it is refused."""
    try:
        return operation()
    except Exception as error:
        status = getattr(error, "status_code", None) or getattr(error, "code", None)
        return {"status": status, "message": str(error)}


def message_of(refused):
    refusal = outcome(refused)
    return refusal["message"] if isinstance(refusal, dict) else "not refused"


def cut_short(pieces):
    """Reads a stream that breaks off: what came before, and what the caller sees of it."""
    text = []
    refusal = outcome(lambda: text.extend(pieces) or {"message": ""})
    return {"text": "".join(text), "message": refusal["message"]}


def leave(models):
    """Leaves an endless stream after its third piece, and asks whether the provider has noticed."""
    one = uuid.uuid4()
    pieces = models.pieces(f"fault:endless:{one}")
    for _ in range(3):
        next(pieces)
    pieces.close()
    # Some close a connection only when nothing refers to it any more.
    del pieces
    gc.collect()
    return models.ask(f"fault:left:{one}")


def operations_of(models):
    picture = (here / asked["image"]["file"]).read_bytes()
    image = {**asked["image"], "base64": base64.b64encode(picture).decode()}

    def offered(name, by):
        return getattr(models, name)(by) if hasattr(models, name) else NOT_TRIED

    operations = {
        "chat": lambda: models.ask(QUESTION),
        "stream": lambda: "".join(models.pieces(QUESTION)),
        "tools": lambda: offered("tools", asked["tool"]),
        "streamedTool": lambda: offered("streamed_tool", asked["tool"]),
        "image": lambda: offered("image", image),
        "structured": lambda: offered("structured", asked["structured"]),
    }
    faults = {
        "invalid": lambda: models.ask(f"fault:invalid:{uuid.uuid4()}"),
        "limit": lambda: models.ask(f"fault:limit:{uuid.uuid4()}"),
        "cut": lambda: cut_short(models.pieces(f"fault:cut:{uuid.uuid4()}")),
        "leave": lambda: leave(models),
    }
    chosen = {**operations, **faults} if "KEYPLANE_FAULTS" in os.environ else operations
    return {operation: outcome(run) for operation, run in chosen.items()}


key, other_key = os.environ["KEYPLANE_API_KEY"], os.environ["KEYPLANE_OTHER_KEY"]
right = client(key, base_url)
tried = {
    "wrongUrl": message_of(lambda: client(key, f"{base_url}/v1").ask(QUESTION)),
    "wrongKey": message_of(lambda: client(other_key, base_url).ask(QUESTION)),
    "operations": operations_of(right),
}
if hasattr(right, "responses"):
    tried["responses"] = operations_of(right.responses)
print(json.dumps(tried))
