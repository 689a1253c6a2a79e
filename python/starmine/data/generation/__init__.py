"""Generation of games: the configuration, the shards, and the driver that makes missing shards."""
