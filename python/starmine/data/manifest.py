"""The manifest of a folder of shards. It is derived from them, and made again where it is missing or damaged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from starmine._core import StarmineError
from starmine._util.durable import DamagedFileError, FolderBusyError, FolderLock, replace_file, seal_json, unseal_json
from starmine.data.arrow import pyarrow

MANIFEST = "_manifest.json"  # readers of a folder of Parquet files leave out names that begin so
FORMAT = 1
SECONDS = 60.0  # to wait while others write the manifest


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder: "configuration", and for each shard an entry in "shards", by its file name.

    Returns:
        None where it is missing or damaged.
    """
    try:
        manifest = unseal_json((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, DamagedFileError, UnicodeDecodeError):
        return None
    is_known = manifest.get("format") == FORMAT and isinstance(manifest.get("shards"), dict)
    return manifest if is_known else None


def add_to_manifest(folder: Path, configuration: dict[str, Any], entries: dict[str, Any]) -> None:
    """Add entries of shards. Where others hold the manifest for long, they are left out, and derived another time."""
    with suppress(FolderBusyError), FolderLock(folder, seconds=SECONDS):
        manifest = read_manifest(folder)
        shards = {} if manifest is None else manifest["shards"]
        if any(shards.get(name) != entry for name, entry in entries.items()):
            write_manifest(folder, configuration, shards | entries)


def write_manifest(folder: Path, configuration: dict[str, Any], entries: dict[str, Any]) -> None:
    """Write the manifest of a folder that the caller has locked."""
    manifest = {"format": FORMAT, "configuration": configuration, "shards": dict(sorted(entries.items()))}
    replace_file(folder / MANIFEST, seal_json(manifest).encode())


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Turn the errors of a folder that cannot be written into a `StarmineError` of one line."""
    try:
        yield
    except FolderBusyError as error:
        raise StarmineError(f"output={error}: expected another folder, or the end of that process") from error
    except (OSError, pyarrow().ArrowException) as error:
        is_taken = isinstance(error, FileExistsError)
        reason = "it is no folder" if is_taken else getattr(error, "strerror", None) or error
        file = getattr(error, "filename", None)
        named = f", {Path(str(file)).name}" if file is not None and Path(str(file)) != folder else ""
        raise StarmineError(
            f"output={str(folder)!r} cannot be written ({reason}{named}): expected a folder that can be"
        ) from error


# --- Configurations ---------------------------------------------------------------------------------------


def differences(stored: Any, expected: dict[str, Any]) -> list[str]:
    """The entries in which a configuration differs from the expected one, as text; an empty list if none does."""
    if not isinstance(stored, dict):
        return ["no configuration"]
    return list(_differing(stored, json.loads(json.dumps(expected))))


def _differing(stored: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    for name in [*expected, *(name for name in stored if name not in expected)]:
        one, other = stored.get(name), expected.get(name)
        if one != other:
            if name == "players" and (changed := _changed(one, other)):
                yield from changed
            elif isinstance(one, dict) and isinstance(other, dict):
                yield from (f"{name}.{text}" for text in _differing(one, other))
            else:
                yield f"{name}={_short(one)} instead of {_short(other)}"


def _changed(stored: Any, expected: Any) -> list[str]:
    """The players, as text, in which tables of players that are otherwise equal differ."""
    try:
        pairs = list(zip(stored, expected, strict=True))
        if all(one | {"hash": None} == other | {"hash": None} for one, other in pairs):
            names = [other["name"] for one, other in pairs if one["hash"] != other["hash"]]
            return [f"another {name!r}: its weights, its file or its version have changed" for name in names]
    except (TypeError, ValueError, KeyError):
        pass
    return []


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
