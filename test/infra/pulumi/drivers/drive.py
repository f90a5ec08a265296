"""Brings program.py up, prints its outputs as one line of JSON, and once a line has come brings it down again."""

import json
import runpy
import sys

from pulumi import automation

stack = automation.create_stack("test", project_name="keys", program=lambda: runpy.run_path("program.py"))
outputs = stack.up().outputs
print(json.dumps({name: {"value": output.value, "secret": output.secret} for name, output in outputs.items()}), flush=True)
sys.stdin.readline()
stack.destroy()
