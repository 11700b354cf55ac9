#!/usr/bin/env python3
"""Opens FILE in dsv4-lsp-server and prints what the server says about it.

usage: ask_language_server.py FILE [TEXT [completion|hover]]

With TEXT, what the server completes after the first TEXT in FILE is printed, one a line, or the text
that it shows for the last character of TEXT.
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
question = None
if len(sys.argv) > 2:
    question = sys.argv[3] if len(sys.argv) > 3 else "completion"
    offset = text.index(sys.argv[2]) + len(sys.argv[2]) - (question == "hover")
    line, character = text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset) - 1
    messages.insert(2, {
        "id": 2, "method": "textDocument/" + question,
        "params": {"textDocument": {"uri": document["uri"]},
                   "position": {"line": line, "character": character},
                   "context": {"triggerKind": 1}}})
request = b""
for message in messages:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    request += b"Content-Length: %d\r\n\r\n" % len(body) + body
server = subprocess.run(["dsv4-lsp-server"], input=request, capture_output=True, timeout=60)
# Each message has the length that it says.
answers = []
output = server.stdout
while output:
    header, _, output = output.partition(b"\r\n\r\n")
    length = int(header.decode().removeprefix("Content-Length: "))
    answers.append(output[:length].decode())
    output = output[length:]
if question is None:
    print("\n".join(answers))
else:
    parsed = map(json.loads, answers)
    result = next(answer for answer in parsed if answer.get("id") == 2)["result"]
    if question == "completion":
        print("\n".join(sorted("complete " + item["label"] for item in result["items"])))
    else:
        print(result["contents"]["value"] if result else "no hover")
print("the server ends with", server.returncode)
