#!/bin/sh
# The official MCP conformance suite against the service: every scenario that needs no fixtures of its own
# (the others call tools, resources and prompts that only the suite's example server has).
set -eu
BIN=${BIN:-.venv/bin}
TOOLS=${TOOLS:-.venv/node}
SCENARIOS="server-initialize ping tools-list tools-call-error server-sse-multiple-streams resources-list prompts-list dns-rebinding-protection"
command -v npm >/dev/null || { echo "skipped: the MCP conformance suite needs npm (apt install npm)"; exit 0; }
if [ ! -e "$TOOLS/node_modules/@modelcontextprotocol/conformance" ]; then
  mkdir -p "$TOOLS"
  npm install --silent --no-audit --no-fund --prefix "$TOOLS" @modelcontextprotocol/conformance@0.1.16 node@22 ||
    { echo "skipped: npm cannot install the MCP conformance suite"; exit 0; }
fi
work=$(mktemp -d)
port=$("$BIN/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$BIN/agentic-rag" ingest examples/vault/teas --data-dir "$work/data" >/dev/null
"$BIN/agentic-rag" serve --data-dir "$work/data" --port "$port" >"$work/log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 100); do
  "$BIN/python" -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/readyz')" 2>/dev/null && break
  sleep 0.2
done
passed=0
failed=0
for scenario in $SCENARIOS; do
  if "$TOOLS/node_modules/node/bin/node" "$TOOLS/node_modules/@modelcontextprotocol/conformance/dist/index.js" server \
      --url "http://127.0.0.1:$port/mcp/" --scenario "$scenario" >"$work/told" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    cat "$work/told"
  fi
done
echo "MCP conformance: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
