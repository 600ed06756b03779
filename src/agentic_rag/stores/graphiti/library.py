"""The one door through which Graphiti enters: quiet, without telemetry, without reading a ``.env``.

Importing this module costs half a second, so ``store.py`` imports it (and every module that needs it) only where a chat
model extracts or a server keeps a copy of the graph.
"""

from __future__ import annotations

import importlib
import logging
import os
import warnings

from agentic_rag.stores.graphiti.merging import merge_same_spelling

os.environ.setdefault("GRAPHITI_TELEMETRY_ENABLED", "false")


def _import_graphiti() -> None:
    """Import the library and undo what its ``load_dotenv()`` did to the environment."""
    before = dict(os.environ)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module("graphiti_core")
            importlib.import_module("graphiti_core.search.search_config_recipes")
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)
    # On an error its drivers and searches log whole query vectors and passages.
    logging.getLogger("graphiti_core").setLevel(logging.CRITICAL)


_import_graphiti()

from graphiti_core import Graphiti  # noqa: E402
from graphiti_core.cross_encoder.client import CrossEncoderClient  # noqa: E402
from graphiti_core.driver.driver import GraphDriver, GraphDriverSession, GraphProvider  # noqa: E402
from graphiti_core.driver.graph_operations.graph_operations import GraphOperationsInterface  # noqa: E402
from graphiti_core.driver.query_executor import Transaction  # noqa: E402
from graphiti_core.driver.search_interface.search_interface import SearchInterface  # noqa: E402
from graphiti_core.edges import EntityEdge, EpisodicEdge  # noqa: E402
from graphiti_core.embedder.client import EmbedderClient  # noqa: E402
from graphiti_core.errors import NodeNotFoundError  # noqa: E402
from graphiti_core.llm_client.client import LLMClient  # noqa: E402
from graphiti_core.llm_client.config import LLMConfig  # noqa: E402
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient  # noqa: E402
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode  # noqa: E402
from graphiti_core.prompts.lib import (  # noqa: E402
    PROMPT_GROUPS,
    create_prompt_library,
    default_chat_prompt_library,
)
from graphiti_core.search.search_config_recipes import EDGE_HYBRID_SEARCH_RRF  # noqa: E402
from graphiti_core.search.search_filters import (  # noqa: E402
    ComparisonOperator,
    DateFilter,
    SearchFilters,
)
from graphiti_core.utils.maintenance import node_operations  # noqa: E402

# Graphiti has no parameter for it. test_merging.py fails where a version of Graphiti no longer calls it.
node_operations._resolve_with_similarity = merge_same_spelling

__all__ = [
    "EDGE_HYBRID_SEARCH_RRF",
    "PROMPT_GROUPS",
    "ComparisonOperator",
    "CrossEncoderClient",
    "DateFilter",
    "EmbedderClient",
    "EntityEdge",
    "EntityNode",
    "EpisodeType",
    "EpisodicEdge",
    "EpisodicNode",
    "GraphDriver",
    "GraphDriverSession",
    "GraphOperationsInterface",
    "GraphProvider",
    "Graphiti",
    "LLMClient",
    "LLMConfig",
    "NodeNotFoundError",
    "OpenAIGenericClient",
    "SearchFilters",
    "SearchInterface",
    "Transaction",
    "create_prompt_library",
    "default_chat_prompt_library",
]
