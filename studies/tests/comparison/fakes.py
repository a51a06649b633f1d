"""Models for tests: one that works, and ways to fail."""

import os
import signal
import subprocess
import sys

import numpy as np

from hdsp_studies.peers import Fitted, Peer

WAIT = "time.sleep(100)"


class FittedUnigram(Fitted):
    def __init__(self, counts):
        shares = np.asarray(counts.sum(axis=0)).ravel() + 1.0
        self.topics = (shares / shares.sum())[None, :]
        self.topic_tokens = np.array([counts.sum()])

    def given_words(self, counts, labels):
        return np.ones((len(labels), 1))


class Unigram(Peer):
    """One topic. It knows nothing of labels, and says so by a dash."""

    def fit(self, train, settings):
        return FittedUnigram(train.counts)


class Crashes(Peer):
    def fit(self, train, settings):
        os.kill(os.getpid(), signal.SIGSEGV)


class Leaves(Peer):
    def fit(self, train, settings):
        os._exit(3)


class LeavesQuietly(Peer):
    """As if all were well."""

    def fit(self, train, settings):
        os._exit(0)


class Lingers(Peer):
    """Opens the pipe of the variable LINGERS, as a child of its own does, and then waits.

    A reader of the pipe meets its end once both are gone.
    """

    def fit(self, train, settings):
        with open(os.environ["LINGERS"], "w") as pipe:
            command = f"import time; print('here', flush=True); {WAIT}; print('waited')"
            subprocess.run([sys.executable, "-c", command], stdout=pipe)


class Raises(Peer):
    def fit(self, train, settings):
        raise ArithmeticError("two and two\nare five")


class Certain(Peer):
    """Sure of one word, and so infinitely surprised by any other."""

    def fit(self, train, settings):
        model = FittedUnigram(train.counts)
        model.topics = np.eye(1, train.n_words)
        return model
