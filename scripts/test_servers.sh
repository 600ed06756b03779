#!/bin/sh
# The stores' contracts on real servers: Neo4j from its Maven artefacts, FalkorDB from its wheel, and S3 by moto; and two
# replicas of the service over such stores, behind nginx.
set -eu
BIN=${BIN:-.venv/bin}
BUILT=${BUILT:-.venv/neo4j}
for tool in java mvn; do
  command -v $tool >/dev/null || { echo "skipped: the tests of Neo4j need Java 17 and Maven (apt install openjdk-17-jdk-headless maven)"; exit 0; }
done
PATH=$PATH:/usr/sbin command -v nginx >/dev/null || echo "the tests of replicas are skipped: they need nginx (apt install nginx-light)"
if [ ! -e "$BUILT/neo4j-for-tests.jar" ]; then
  mkdir -p "$BUILT"
  mvn -q -B -f tests/integration/neo4j/pom.xml package "-Dout=$(cd "$BUILT" && pwd)" ||
    { echo "skipped: Maven cannot build Neo4j"; exit 0; }
fi
SERVERS_FOR_TESTS=required NEO4J_FOR_TESTS=$(cd "$BUILT" && pwd) exec "$BIN/python" -m pytest \
  tests/contract tests/unit/stores tests/integration -k "neo4j or falkordb or object_store or replicas" -ra "$@"
