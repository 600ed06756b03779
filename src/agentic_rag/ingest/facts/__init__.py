"""Facts for the graph, by rules: the names that a text speaks of, and what links, properties and sentences say of them."""
