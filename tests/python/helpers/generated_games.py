"""Generated data sets: their columns, their tables, and the command that makes them."""

from starmine.cli import main
from starmine.data import Dataset


def rows(folder):
    """All columns of all games of a folder, in their order."""
    from pyarrow.parquet import read_table

    return read_table(folder).to_pydict()


def tables_of(folder):
    """The players of each game, by name."""
    data = Dataset(folder)
    names = [player.name for player in data.roster]
    return [tuple(names[row] for row in seats) for seats in rows(folder)["players"]]


def run(*arguments):
    """The exit status of `starmine generate`, of 100 quiet games of mini."""
    return main(
        ["generate", *map(str, arguments), "--games", "100", "--variant", "mini", "--quiet", "--num-threads", "1"]
    )
