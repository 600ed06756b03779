"""Graphiti's own Kuzu operations, which speak LadybugDB's dialect and import neither database."""

from __future__ import annotations

from typing import Any

from graphiti_core.driver.kuzu.operations.community_edge_ops import KuzuCommunityEdgeOperations
from graphiti_core.driver.kuzu.operations.community_node_ops import KuzuCommunityNodeOperations
from graphiti_core.driver.kuzu.operations.entity_edge_ops import KuzuEntityEdgeOperations
from graphiti_core.driver.kuzu.operations.entity_node_ops import KuzuEntityNodeOperations
from graphiti_core.driver.kuzu.operations.episode_node_ops import KuzuEpisodeNodeOperations
from graphiti_core.driver.kuzu.operations.episodic_edge_ops import KuzuEpisodicEdgeOperations
from graphiti_core.driver.kuzu.operations.graph_ops import KuzuGraphMaintenanceOperations
from graphiti_core.driver.kuzu.operations.has_episode_edge_ops import KuzuHasEpisodeEdgeOperations
from graphiti_core.driver.kuzu.operations.next_episode_edge_ops import KuzuNextEpisodeEdgeOperations
from graphiti_core.driver.kuzu.operations.saga_node_ops import KuzuSagaNodeOperations
from graphiti_core.driver.kuzu.operations.search_ops import KuzuSearchOperations


def kuzu_operations() -> dict[str, Any]:
    """By the name of the driver property that hands them out."""
    return {
        "entity_node_ops": KuzuEntityNodeOperations(),
        "episode_node_ops": KuzuEpisodeNodeOperations(),
        "community_node_ops": KuzuCommunityNodeOperations(),
        "saga_node_ops": KuzuSagaNodeOperations(),
        "entity_edge_ops": KuzuEntityEdgeOperations(),
        "episodic_edge_ops": KuzuEpisodicEdgeOperations(),
        "community_edge_ops": KuzuCommunityEdgeOperations(),
        "has_episode_edge_ops": KuzuHasEpisodeEdgeOperations(),
        "next_episode_edge_ops": KuzuNextEpisodeEdgeOperations(),
        "search_ops": KuzuSearchOperations(),
        "graph_ops": KuzuGraphMaintenanceOperations(),
    }
