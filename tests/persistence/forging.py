"""Files that someone changed on purpose, with a right checksum, and how they are refused."""

import json
import shutil
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa
from pyarrow import parquet

from hdsp import HDSP, ModelFileError, ReadError, open_corpus
from hdsp.corpus.stored import MANIFEST, checksum, read_manifest, shard_path
from hdsp.storage.container import read_file, write_file
from tests.corpus.corpora import example
from tests.persistence import runs
from tests.zoo import fitted

# In place of a value, or an array, that is left out.
REMOVED = object()


class Target(NamedTuple):
    """A kind of file: how it is written, changed and read; all three take a folder."""

    make: object
    rewrite: object
    read: object


def rewrite(path, change, kind="model"):
    """Call `change` with the data and the arrays of a file, and write it again."""
    data, mapped = read_file(path, kind)
    arrays = {name: array.copy() for name, array in mapped.items()}
    change(data, arrays)
    write_file(path, kind, data, arrays)


def rewrite_manifest(folder, change):
    """Change the manifest of a corpus, and give it its fingerprint."""
    data = json.loads((folder / MANIFEST).read_text())
    stamped = data["fingerprint"]
    change(data, {})
    body = {name: own for name, own in data.items() if name not in ("format", "version")}
    if body.pop("fingerprint", None) == stamped:
        data["fingerprint"] = checksum(json.dumps(body, sort_keys=True).encode())
    (folder / MANIFEST).write_text(json.dumps(data))


def rewrite_shard(folder, change, number=1):
    """Change a shard, as lists by column and its schema, and give the manifest its checksum."""
    path = shard_path(folder, number)
    table = parquet.read_table(path)
    columns, kinds = table.to_pydict(), dict(zip(table.column_names, table.schema, strict=True))
    change(columns, kinds)
    schema = pa.schema([kinds[name] for name in columns])
    parquet.write_table(pa.table(columns, schema=schema), path)
    manifest = read_manifest(folder)
    records = list(manifest.shards)
    records[number] = replace(records[number], checksum=checksum(path.read_bytes()))
    replace(manifest, shards=tuple(records)).write(folder)


def _model(name):
    return Target(
        lambda folder: fitted(name).save(folder / "model.hdsp"),
        lambda folder, change: rewrite(folder / "model.hdsp", change),
        lambda folder: HDSP.load(folder / "model.hdsp"),
    )


def _checkpoint(make, stop):
    return Target(
        stop,
        lambda folder, change: rewrite(folder / "checkpoint.hdsp", change, "checkpoint"),
        lambda folder: make(checkpoint=folder).fit(runs.data()),
    )


def _corpus(rewrite):
    return Target(
        lambda folder: example(50).with_groups(["a", None] * 25).write(folder, 10),
        rewrite,
        lambda folder: open_corpus(folder)[:],
    )


MODELS = ("functions", "merged", "content", "seeds", "stream")
TARGETS = {
    **{name: _model(name) for name in MODELS},
    "checkpoint": _checkpoint(runs.make, lambda folder: runs.kill_fit(folder, 7)),
    "search": _checkpoint(runs.make_search, lambda folder: runs.kill_search(folder, 3, 1)),
    "manifest": _corpus(rewrite_manifest),
    "shard": _corpus(rewrite_shard),
}


class Forger:
    """Writes valid files once, and changed copies of them."""

    def __init__(self, folder):
        self.folder = folder

    def valid(self, target):
        """A folder with a valid file."""
        folder = self.folder / f"valid {target}"
        if not folder.exists():
            folder.mkdir()
            TARGETS[target].make(folder)
        return folder

    def forge(self, target, change=lambda *_: None):
        """A folder with a changed file."""
        folder = self.folder / "forged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.valid(target), folder)
        TARGETS[target].rewrite(folder, change)
        return folder

    def contents(self, target):
        """The data and the arrays of a valid file."""
        found = []
        self.forge(target, lambda *contents: found.extend(contents))
        return found

    def refuses(self, target, change):
        """Whether a changed file is refused, which happens in one sentence."""
        return is_refused(target, self.forge(target, change))


def is_refused(target, folder):
    """Whether a file is refused, which happens in one sentence that names it."""
    try:
        TARGETS[target].read(folder)
    except (ModelFileError, ReadError) as error:
        message = str(error)
        assert str(folder) in message
        assert message.endswith(".")
        assert "\n" not in message
        # One sentence: no full stop but that of names and numbers, and the last.
        assert ". " not in message
        return True
    return False


def put(keys, value):
    """A change that puts a value at keys such as ``"model.report.history.0"``."""
    *path, last = [int(key) if key.isdigit() else key for key in keys.split(".")]

    def change(data, _):
        for key in path:
            data = data[key]
        if value is REMOVED:
            del data[last]
        else:
            data[last] = value

    return change


def put_array(name, value):
    """A change that replaces an array by another, or all its numbers by one."""

    def change(_, arrays):
        if value is REMOVED:
            del arrays[name]
        elif hasattr(value, "shape"):
            arrays[name] = value
        else:
            arrays[name][...] = value

    return change


def put_column(name, value, kind=None):
    """A change that puts a value into the first row of a column of a shard, or into all rows."""

    def change(columns, kinds):
        kinds[name] = kinds[name] if kind is None else kinds[name].with_type(kind)
        columns[name] = [value, *columns[name][1:]] if kind is None else [value] * 10

    return change


def wrong_arrays(array):
    """Arrays that cannot stand in for another."""
    yield REMOVED
    yield array[..., :-1] if array.ndim == 1 else array[:-1]
    yield array[None]
    yield array.astype("i1" if array.dtype.kind == "f" else "f4")
    numbers = {"f": [float("nan"), float("inf"), float("-inf")], "i": [-1, 10**6]}
    for number in numbers[array.dtype.kind] if array.size else ():
        changed = array.astype("i8") if array.dtype.kind == "i" else array.copy()
        changed.flat[-1] = number
        yield changed
