"""Files that someone changed on purpose, with a right checksum."""

from hdsp.storage.container import read_file, write_file


def rewrite(path, change, kind="model"):
    """Call `change` with the data and the arrays of a file, and write it again."""
    data, mapped = read_file(path, kind)
    arrays = {name: array.copy() for name, array in mapped.items()}
    change(data, arrays)
    write_file(path, kind, data, arrays)


def put(keys, value):
    """A change that puts a value at keys such as ``"model.report.history.0"``."""
    *path, last = [int(key) if key.isdigit() else key for key in keys.split(".")]

    def change(data, arrays):
        for key in path:
            data = data[key]
        data[last] = value

    return change


def put_array(name, value):
    """A change that replaces an array by another, or all its numbers by one."""

    def change(data, arrays):
        if hasattr(value, "shape"):
            arrays[name] = value
        else:
            arrays[name][...] = value

    return change


def wrong_arrays(array):
    """Arrays that cannot stand in for another."""
    yield array[..., :-1] if array.ndim == 1 else array[:-1]
    yield array[None]
    yield array.astype("i1" if array.dtype.kind == "f" else "f4")
    numbers = {"f": [float("nan"), float("inf"), float("-inf")], "i": [-1, 10**6]}
    for number in numbers[array.dtype.kind] if array.size else ():
        changed = array.astype("i8") if array.dtype.kind == "i" else array.copy()
        changed.flat[-1] = number
        yield changed
