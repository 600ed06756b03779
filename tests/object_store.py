"""An object store that the tests can run on: S3's protocol, by moto, on a port of this machine."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

import pytest

BUCKET = "notes"
REQUIRED = bool(os.environ.get("SERVERS_FOR_TESTS"))


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A running server with one bucket."""

    endpoint: str

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

    def empty_uri(self) -> str:
        """A place in the bucket where nothing is yet."""
        return f"s3://{BUCKET}/{uuid4().hex}"


@contextmanager
def s3_server() -> Iterator[ObjectStore]:
    """A server that runs until the end; only for ``make test-servers``, for every request takes milliseconds."""
    if not REQUIRED:
        pytest.skip("make test-servers runs the tests on an object store")
    import boto3
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        store = ObjectStore(f"http://{host}:{port}")
        client = boto3.client(
            "s3",
            endpoint_url=store.endpoint,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",  # moto takes any
        )
        client.create_bucket(Bucket=BUCKET)
        yield store
    finally:
        server.stop()
