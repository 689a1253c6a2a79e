"""Generation of games in shards: settings, players, the shards of one process, and the manifest of a folder."""
