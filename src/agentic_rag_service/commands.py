"""The commands ``serve`` and ``mcp``: an entry of ``agentic_rag.commands``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.cli.options import BoardUser, Dataset, Roots, is_new, require_data_folder, with_config
from agentic_rag.cli.running import run
from agentic_rag.errors import needing

if TYPE_CHECKING:
    from agentic_rag.settings.config import RagConfig

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
@with_config
def serve(
    config: RagConfig,
    host: Annotated[
        str, typer.Option(metavar="H", help="Address to listen on; all but loopback need an API key.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="P", min=0, max=65535, help="Port to listen on; 0: any free one.")
    ] = 8321,
    roots: Roots = None,
    watched_folders: Annotated[
        list[Path] | None,
        typer.Option(
            "--watch", metavar="FOLDER", help="Folder to watch: its changes are ingested; repeatable."
        ),
    ] = None,
    dataset: Dataset = "default",
    write: Annotated[
        bool, typer.Option("--mcp-write", help="Let MCP clients ingest, write boards and remember.")
    ] = False,
) -> None:
    """Serve the page, an OpenAI-compatible API, MCP and the HTTP API.

    The page is at http://127.0.0.1:8321/, the OpenAI-compatible API at /v1, MCP at /mcp, the description of the HTTP
    API at /openapi.json.
    """
    with needing("the service", "service"):
        from agentic_rag_service.serve import serve_forever

    serve_forever(
        config,
        host,
        port,
        roots=roots or [],
        watched_folders=watched_folders or [],
        dataset=dataset,
        mcp_write=write,
    )


@app.command()
@with_config
def mcp(
    config: RagConfig,
    write: Annotated[
        bool, typer.Option("--write", help="Let the client ingest, write boards and remember.")
    ] = False,
    roots: Roots = None,
    user_id: BoardUser = "local",
) -> None:
    """Run an MCP server on standard input and output, for Claude Desktop, editors and other clients.

    Over HTTP: agentic-rag serve, at /mcp.
    """
    if write and is_new(config):
        typer.echo(f"making the data folder {config.data_dir.absolute()}", err=True)
    elif not write:
        require_data_folder(config)
    with needing("the MCP server", "service"):
        from agentic_rag_service.serve import serve_stdio

    run(serve_stdio(config, roots or [], user_id, write=write))
