"""The manifest of a folder of shards. It is derived from them, and made again where it is missing or damaged."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from starmine._util.durable import DamagedFileError, FolderBusyError, FolderLock, replace_file, seal_json, unseal_json
from starmine.data.files import files_of
from starmine.data.generate.configuration import another_configuration, differences

MANIFEST = "_manifest.json"  # readers of a folder of Parquet files leave out names that begin so
FORMAT = 1
SECONDS = 60.0  # to wait while others write the manifest


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder: "configuration", and for each shard an entry in "shards", by its file name.

    Returns:
        None where it is missing or damaged.

    Raises:
        OSError: it is there and cannot be read.
    """
    try:
        found = unseal_json((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, DamagedFileError, UnicodeDecodeError):
        return None
    is_known = found.get("format") == FORMAT and isinstance(found.get("shards"), dict)
    return found if is_known else None


def begin_manifest(folder: Path, configuration: dict[str, Any], check: Callable[[Path], None]) -> dict[str, Any]:
    """Write the manifest of a new data set, so that another one cannot begin in this folder; the shards' entries.

    Args:
        folder: of the data set.
        configuration: of the data set.
        check: called with each Parquet file that the manifest does not name: it was lost, or they come from elsewhere.

    Raises:
        StarmineError: the folder holds another data set, which is left as it is.
        OSError: the manifest cannot be read or written.
    """
    with FolderLock(folder, seconds=SECONDS):
        found = read_manifest(folder)
        if found is not None and (different := differences(found.get("configuration"), configuration)):
            raise another_configuration(folder, MANIFEST, different)
        entries = {} if found is None else dict(found["shards"])
        for path in files_of(folder):
            if path.name not in entries:
                check(path)
        if found is None:
            _write(folder, {"format": FORMAT, "configuration": configuration, "shards": {}})
    return entries


def add_to_manifest(folder: Path, configuration: dict[str, Any], entries: dict[str, Any]) -> None:
    """Add entries of shards. Where others hold the manifest for long, they are left out, and derived another time.

    Raises:
        OSError: the manifest cannot be read or written.
    """
    with suppress(FolderBusyError), FolderLock(folder, seconds=SECONDS):
        found = read_manifest(folder)
        shards = {} if found is None else found["shards"]
        if any(shards.get(name) != entry for name, entry in entries.items()):
            merged = dict(sorted((shards | entries).items()))
            _write(folder, {"format": FORMAT, "configuration": configuration, "shards": merged})


def _write(folder: Path, manifest: dict[str, Any]) -> None:
    replace_file(folder / MANIFEST, seal_json(manifest).encode())
