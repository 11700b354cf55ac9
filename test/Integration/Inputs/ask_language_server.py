#!/usr/bin/env python3
"""Opens FILE in dsv4-lsp-server and prints what the server says about it.

usage: ask_language_server.py FILE
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
request = b""
for message in messages:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    request += b"Content-Length: %d\r\n\r\n" % len(body) + body
server = subprocess.run(["dsv4-lsp-server"], input=request, capture_output=True, timeout=60)
print(server.stdout.decode())
print("the server ends with", server.returncode)
