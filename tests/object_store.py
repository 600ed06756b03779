"""An object store that the tests can run on: S3's protocol, by moto, on a port of this machine."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import Any, Literal
from uuid import uuid4

import pytest

Conditions = Literal["kept", "ignored", "refused"]
BUCKET = "notes"


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A running server with one bucket."""

    endpoint: str
    answered: Counter[str]
    """Requests by their method, and ``bytes`` of what was sent."""
    app: Any
    serving: ExitStack

    @property
    def options(self) -> dict[str, str]:
        """LanceDB's ``storage_options``."""
        return {
            "aws_access_key_id": "test",
            "aws_secret_access_key": "test",
            "aws_region": "us-east-1",
            "aws_endpoint": self.endpoint,
            "allow_http": "true",
        }

    def client(self, service: str) -> Any:
        """Of one of its services."""
        import boto3

        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id="test",  # moto takes any
            aws_secret_access_key="test",
        )

    def stop(self) -> None:
        """Refuse connections, until ``start``; nothing of what it holds is lost."""
        self.serving.close()

    def start(self) -> None:
        self.serving.enter_context(_served(self.app, int(self.endpoint.rpartition(":")[2])))

    def empty_uri(self) -> str:
        """A place in the bucket where nothing is yet."""
        return f"s3://{BUCKET}/{uuid4().hex}"

    def with_commit_table(self) -> tuple[str, dict[str, str]]:
        """An empty place whose commits go through a DynamoDB table, with its options."""
        place = self.empty_uri()
        table = f"commits-{place[-8:]}"
        keys = (("base_uri", "HASH", "S"), ("version", "RANGE", "N"))
        self.client("dynamodb").create_table(
            TableName=table,
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind, _ in keys],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": of} for name, _, of in keys],
            BillingMode="PAY_PER_REQUEST",
        )
        uri = f"{place.replace('s3://', 's3+ddb://')}?ddbTableName={table}"
        return uri, {**self.options, "dynamodb_endpoint": self.endpoint}


def _counted(app: Any, answered: Counter[str]) -> Any:
    def called(environ: dict[str, Any], start: Any) -> Any:
        answered[environ["REQUEST_METHOD"]] += 1
        parts = list(app(environ, start))
        answered["bytes"] += sum(map(len, parts))
        return parts

    return called


def _without_conditions(app: Any, conditions: Conditions) -> Any:
    """The same, as stores are that know no ``If-None-Match``."""

    def called(environ: dict[str, Any], start: Any) -> Any:
        if "HTTP_IF_NONE_MATCH" in environ and conditions == "refused":
            body = b"<Error><Code>NotImplemented</Code><Message>a header is not implemented</Message></Error>"
            start("501 Not Implemented", [("Content-Length", str(len(body)))])
            return [body]
        if conditions == "ignored":
            environ.pop("HTTP_IF_NONE_MATCH", None)
        return app(environ, start)

    return called


@contextmanager
def s3_server(conditions: Conditions = "kept") -> Iterator[ObjectStore]:
    """A server that runs until the end; only for ``make test-servers``, for every request takes milliseconds.

    ``conditions``: what it does with those on writes.
    """
    if not os.environ.get("SERVERS_FOR_TESTS"):
        pytest.skip("make test-servers runs the tests on an object store")
    from moto.server import DomainDispatcherApplication, create_backend_app

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request
    answered: Counter[str] = Counter()
    app = _without_conditions(DomainDispatcherApplication(create_backend_app), conditions)
    app = _counted(app, answered)
    with ExitStack() as serving:
        port = serving.enter_context(_served(app))
        store = ObjectStore(f"http://127.0.0.1:{port}", answered, app, serving)
        store.client("s3").create_bucket(Bucket=BUCKET)
        yield store


@contextmanager
def _served(app: Any, port: int = 0) -> Iterator[int]:
    """At which port; 0: at a free one."""
    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", port, app, threaded=True)
    running = Thread(target=server.serve_forever, daemon=True)
    running.start()
    try:
        yield server.port
    finally:
        server.shutdown()
        running.join()
        server.server_close()
