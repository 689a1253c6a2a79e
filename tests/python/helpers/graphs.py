"""Cycles in graphs."""


def cycles(graph):
    """The groups of nodes that reach each other, each sorted, from {node: the nodes that it points to}."""

    def reached(start):
        found, waiting = set(), [start]
        while waiting:
            new = graph.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    reach = {node: reached(node) for node in graph}
    groups = {
        tuple(sorted(other for other in reach[node] if node in reach[other])) for node in graph if node in reach[node]
    }
    return sorted(groups)
