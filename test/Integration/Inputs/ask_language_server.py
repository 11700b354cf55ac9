#!/usr/bin/env python3
"""Opens FILE in dsv4-lsp-server and prints what the server says about it.

usage: ask_language_server.py FILE [LINE:CHARACTER]

Lines and characters count from 0. With them, what the server completes there is printed, one a line.
"""

import json
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
document = {"uri": "file:///program.mlir", "languageId": "mlir", "version": 1, "text": text}
messages = [
    {"id": 0, "method": "initialize",
     "params": {"processId": 1, "rootPath": "/", "capabilities": {}, "trace": "off"}},
    {"method": "textDocument/didOpen", "params": {"textDocument": document}},
    {"id": 1, "method": "shutdown"},
    {"method": "exit"},
]
if len(sys.argv) > 2:
    line, character = map(int, sys.argv[2].split(":"))
    messages.insert(2, {
        "id": 2, "method": "textDocument/completion",
        "params": {"textDocument": {"uri": document["uri"]},
                   "position": {"line": line, "character": character},
                   "context": {"triggerKind": 1}}})
request = b""
for message in messages:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    request += b"Content-Length: %d\r\n\r\n" % len(body) + body
server = subprocess.run(["dsv4-lsp-server"], input=request, capture_output=True, timeout=60)
output = server.stdout.decode()
if len(sys.argv) > 2:
    answers = (json.loads("{" + part.split("{", 1)[1]) for part in output.split("Content-Length:")[1:])
    items = next(answer for answer in answers if answer.get("id") == 2)["result"]["items"]
    output = "\n".join("complete " + item["label"] for item in sorted(items, key=lambda item: item["label"]))
print(output)
print("the server ends with", server.returncode)
