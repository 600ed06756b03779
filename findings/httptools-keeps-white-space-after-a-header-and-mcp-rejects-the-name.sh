#!/bin/sh
# White space after a header's value is no part of it (RFC 9110, 5.5). h11 strips it. httptools gives it to the
# application, and uvicorn takes httptools wherever it is installed, as uvicorn[standard] does. So the same MCP server
# answers a call with h11 and rejects the same bytes with httptools: mcp compares the header Mcp-Name, with its two
# spaces, to the name in the body.
# Seen with uvicorn 0.54.0, h11 0.16.0, httptools 0.9.0 and mcp 2.3.0:
#   h11        200 tea
#   httptools  400 mcp-name header does not match the request body's 'name' parameter
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  uvicorn==0.54.0 h11==0.16.0 httptools==0.9.0 mcp==2.3.0
"$folder/venv/bin/python" - <<'PY'
import asyncio
import json

import uvicorn
from mcp.server import MCPServer

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
BODY = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "ask",
            "arguments": {"question": "tea"},
            "_meta": {
                f"{META}protocolVersion": VERSION,
                f"{META}clientInfo": {"name": "client", "version": "1"},
                f"{META}clientCapabilities": {},
            },
        },
    }
)


def ask(question: str) -> str:
    return question


async def answer(parser, name):
    tools = MCPServer("tea", log_level="ERROR")
    tools.tool()(ask)
    app = tools.streamable_http_app()
    server = uvicorn.Server(uvicorn.Config(app, port=0, http=parser, log_level="error"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = [
        "POST /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"MCP-Protocol-Version: {VERSION}",
        "Mcp-Method: tools/call",
        f"Mcp-Name: {name}",
        f"Content-Length: {len(BODY)}",
        "Connection: close",
    ]
    writer.write("\r\n".join([*head, "", BODY]).encode())
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    server.should_exit = True
    await serving
    message = json.loads(body)
    text = message["error"]["message"] if "error" in message else message["result"]["content"][0]["text"]
    return int(head.split()[1]), text


async def main():
    for parser, code in (("h11", 200), ("httptools", 400)):
        assert await answer(parser, "ask") == (200, "tea"), parser
        status, text = await answer(parser, "ask  ")
        print(f"{parser:10} {status} {text}")
        assert status == code, (parser, status)


asyncio.run(main())
PY
