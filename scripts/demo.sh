#!/bin/sh
# Ingest the example vault and ask it one question per operation; exit 1 unless every answer is cited.
set -eu
BIN=${BIN:-.venv/bin}
DATA=${DATA:-.agentic-rag}
started=$(date +%s)
told=$(mktemp)
trap 'rm -f "$told"' EXIT
trap 'exit 130' INT TERM
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  # The answers go through a file, where rich would leave colour and width out.
  COLUMNS=${COLUMNS:-$(tput cols 2>/dev/null || echo 100)}
  FORCE_COLOR=1
  export COLUMNS FORCE_COLOR
fi

show() {  # the command line as one would type it
  printf '\n$ %s' "$BIN/agentic-rag"
  for word in "$@"; do
    case $word in
      *[!A-Za-z0-9_./=,-]*) printf ' "%s"' "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n\n'
}

ask() {  # operation, question
  show ask "$2" --operation "$1" --explain --data-dir "$DATA"
  if ! "$BIN/agentic-rag" ask "$2" --operation "$1" --explain --data-dir "$DATA" >"$told"; then
    cat "$told"
    exit 1
  fi
  cat "$told"
  # A citation's line: [1] path › heading (from–to). An answer that abstains has none.
  if ! grep -q '^\[1\] .*([0-9]' "$told"; then
    echo "error: no cited answer to: $2" >&2
    exit 1
  fi
}

show ingest examples/vault --data-dir "$DATA"
"$BIN/agentic-rag" ingest examples/vault --data-dir "$DATA"
ask verification_canvas "杀青、萎凋和渥堆各是什么？"
ask weak_point_clustering "我在考试和练习里记错了什么？为什么会错？"
ask concept_relation "Polyphenol oxidase, catechins, oxidation and kill-green: how do they hang together?"
ask document_retrieval "At what temperature and for how long is the second fire?"
printf '\nfour cited answers in %s s\n' "$(( $(date +%s) - started ))"
