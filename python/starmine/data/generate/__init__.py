"""Generation of games: what determines them, the shards, and the driver that makes those that are missing."""
