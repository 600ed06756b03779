#!/bin/sh
# The page in a real browser: Debian's Chromium by Playwright, axe-core and a JSON Canvas viewer from npm.
set -eu
BIN=${BIN:-.venv/bin}
TOOLS=${TOOLS:-.venv/node}
missing() { echo "skipped: $1"; exit 0; }
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-noto-cjk >/dev/null || true
  browser=$(command -v chromium || true)
fi
[ -n "$browser" ] || missing "the browser tests need Chromium (apt install chromium)"
command -v npm >/dev/null || missing "the browser tests need npm (apt install npm)"
if [ ! -e "$TOOLS/node_modules/axe-core" ] || [ ! -e "$TOOLS/node_modules/esbuild" ]; then
  mkdir -p "$TOOLS"
  npm install --silent --no-audit --no-fund --prefix "$TOOLS" axe-core@4.14.1 json-canvas-viewer@4.2.1 esbuild@0.25 ||
    missing "npm cannot install axe-core, json-canvas-viewer and esbuild"
fi
AGENTIC_RAG_BROWSER=$browser AGENTIC_RAG_NODE=$(cd "$TOOLS" && pwd) exec "$BIN/python" -m pytest tests/browser "$@"
