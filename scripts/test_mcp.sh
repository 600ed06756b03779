#!/bin/sh
# The official MCP conformance suite against the service: every scenario that needs no fixtures of its own
# (the others call tools, resources and prompts that only the suite's example server has). server-stateless, which checks
# server/discover and that capabilities are advertised only as they work, has two checks of such a tool among its own.
set -eu
BIN=${BIN:-.venv/bin}
TOOLS=${TOOLS:-.venv/node}
SCENARIOS="server-initialize ping tools-list tools-call-error server-sse-multiple-streams resources-list prompts-list dns-rebinding-protection
  server-stateless http-header-validation caching sep-2164-resource-not-found input-required-result-unsupported-methods"
VERSION=0.2.0-alpha.12
OF_A_FIXTURE="sep-2575-server-rejects-undeclared-capability|sep-2575-missing-capability-http-400"
command -v npm >/dev/null || { echo "skipped: the MCP conformance suite needs npm (apt install npm)"; exit 0; }
SUITE="$TOOLS/node_modules/@modelcontextprotocol/conformance"
if ! grep -qs "\"version\": \"$VERSION\"" "$SUITE/package.json"; then
  mkdir -p "$TOOLS"
  npm install --silent --no-audit --no-fund --prefix "$TOOLS" "@modelcontextprotocol/conformance@$VERSION" node@22 ||
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
only_of_a_fixture() { grep -q FAILURE "$1" && ! grep FAILURE "$1" | grep -qvE "$OF_A_FIXTURE"; }
passed=0
failed=0
for scenario in $SCENARIOS; do
  if "$TOOLS/node_modules/node/bin/node" "$SUITE/dist/index.js" server \
      --url "http://127.0.0.1:$port/mcp/" --scenario "$scenario" >"$work/told" 2>&1 || only_of_a_fixture "$work/told"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    cat "$work/told"
  fi
done
echo "MCP conformance: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
