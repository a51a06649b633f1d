"""Models for tests: one that works, and ways to fail."""

import os
import signal

import numpy as np

from hdsp.peers import Fitted, Peer


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


class Raises(Peer):
    def fit(self, train, settings):
        raise ArithmeticError("two and two\nare five")


class Certain(Peer):
    """Sure of one word, and so infinitely surprised by any other."""

    def fit(self, train, settings):
        model = FittedUnigram(train.counts)
        model.topics = np.eye(1, train.n_words)
        return model
