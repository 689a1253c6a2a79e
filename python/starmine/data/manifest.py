"""The manifest of a folder of shards. It is derived from them, and made again where it is missing or damaged."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from starmine._util.durable import DamagedFileError, FolderBusyError, FolderLock, replace_file, seal_json, unseal_json

MANIFEST = "_manifest.json"  # readers of a folder of Parquet files leave out names that begin so
FORMAT = 1
SECONDS = 60.0  # to wait while others write the manifest


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder: "configuration", and for each shard an entry in "shards", by its file name.

    Returns:
        None where it is missing or damaged.
    """
    try:
        found = unseal_json((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, DamagedFileError, UnicodeDecodeError):
        return None
    is_known = found.get("format") == FORMAT and isinstance(found.get("shards"), dict)
    return found if is_known else None


def add_to_manifest(folder: Path, configuration: dict[str, Any], entries: dict[str, Any]) -> None:
    """Add entries of shards. Where others hold the manifest for long, they are left out, and derived another time."""
    with suppress(FolderBusyError), FolderLock(folder, seconds=SECONDS):
        found = read_manifest(folder)
        shards = {} if found is None else found["shards"]
        if any(shards.get(name) != entry for name, entry in entries.items()):
            write_manifest(folder, configuration, shards | entries)


def write_manifest(folder: Path, configuration: dict[str, Any], entries: dict[str, Any]) -> None:
    """Write the manifest of a folder that the caller has locked."""
    manifest = {"format": FORMAT, "configuration": configuration, "shards": dict(sorted(entries.items()))}
    replace_file(folder / MANIFEST, seal_json(manifest).encode())
