"""The command `starmine`: one module for each subcommand."""

from starmine.cli.command import main

__all__ = ["main"]
