"""Groups of neighbouring blocks, so that executors have fewer and larger tasks.

A group has 2^k blocks and begins at a multiple of 2^k, so its sum is a node of the tree of
`tree_sum`: sums of groups, added by `tree_sum`, have the same bits as those of blocks.
"""

# Groups per worker: enough that none waits long for the others at the end of a pass.
_PER_WORKER = 8
# Some 700 MB of documents of 72 words with 100 topics: a task must fit into a worker's memory.
_LARGEST = 64


def make_groups(n_blocks: int, n_workers: int) -> list[slice]:
    """Cut so many blocks into groups for so many workers.

    Examples
    --------
    >>> make_groups(3, 2)
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    >>> len(make_groups(1000, 2)), make_groups(1000, 2)[-1]
    (16, slice(960, 1000, None))
    """
    size = 1
    while size < _LARGEST and n_blocks > size * _PER_WORKER * n_workers:
        size *= 2
    return [slice(first, min(first + size, n_blocks)) for first in range(0, n_blocks, size)]
