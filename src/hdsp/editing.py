"""What a reader changes in a fitted model: names of topics, and topics merged by hand."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from hdsp.fit import topics_in_use
from hdsp.queries import FittedQueries
from hdsp.validation import check_merges, check_topic_names


class EditableTopics(FittedQueries):
    """The methods of a fitted `HDSP` that change what its topics are called, or which they are."""

    def name_topics(self, names: Mapping[int, str | None]) -> Self:
        """Give topics names, which tables, plots and reports show, and which `save` keeps.

        Parameters
        ----------
        names : mapping of int to str or None
            Names by the number of the topic. Other topics keep theirs; None takes one away.

        Returns
        -------
        HDSP
            The model itself.

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(n_components=8, random_state=0).fit(corpus)
        >>> model.name_topics({0: "Budget", 2: "Football"}).topic_names_
        {0: 'Budget', 2: 'Football'}
        >>> model.name_topics({2: None}).topic_names_
        {0: 'Budget'}
        """
        fitted = self._fitted()
        check_topic_names(names, self._n_features_out)
        found: dict[int, Any] = {**fitted.topic_names, **{int(k): n for k, n in names.items()}}
        kept = {topic: " ".join(found[topic].split()) for topic in sorted(found) if found[topic]}
        self._model = replace(fitted, topic_names=kept)
        return self

    def merged(self, topics: Sequence[int] | Sequence[Sequence[int]]) -> Self:
        """A model in which some topics are one, and all that is said of them is added up.

        The new model keeps the topics of the fit (`fitted_topics_`) and computes with them, so that
        proportions, expected proportions, effects and their draws are exact sums, and words and
        labels are predicted as before. Only the coherence of a merged topic is unknown.

        Parameters
        ----------
        topics : list of int, or list of lists of int
            The topics to merge, such as ``[3, 17]``; or several such lists.

        Returns
        -------
        HDSP
            A new model, its topics numbered anew by size. A merged topic has the names of its
            topics, joined by "+".

        Examples
        --------
        >>> import hdsp
        >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
        >>> model = hdsp.HDSP(n_components=8, random_state=0).fit(corpus)
        >>> merged = model.merged([0, 2])
        >>> merged.fitted_topics_
        ((0, 2), (1,))
        >>> both = model.transform(corpus)[:, [0, 2]].sum(axis=1)
        >>> bool((merged.transform(corpus)[:, 0] == both).all())
        True
        """
        fitted = self._fitted()
        sets = check_merges(topics, self._n_features_out)
        groups = fitted.groups.joined(sets)
        tokens = groups.sum(fitted.topic_tokens())
        order = np.argsort(-tokens, kind="stable")
        groups = groups.ordered(order.tolist())
        before = {own: k for k, own in enumerate(fitted.groups.members)}
        names = {}
        coherence = np.full(len(groups), np.nan)
        for topic, own in enumerate(groups.members):
            parts = [k for k, held in enumerate(fitted.groups.members) if set(held) <= set(own)]
            name = " + ".join(fitted.topic_names[k] for k in parts if k in fitted.topic_names)
            if name:
                names[topic] = name
            if own in before:
                coherence[topic] = fitted.report.coherence[before[own]]
        report = replace(
            fitted.report,
            n_topics=topics_in_use(tokens, fitted.training.n_documents),
            coherence=coherence,
        )
        result = copy(self)
        result.__dict__.pop("components_", None)
        result._model = replace(fitted, report=report, topic_names=names, merged_topics=groups)
        return result

    @property
    def topic_names_(self) -> dict[int, str]:
        """Names of topics by their number; most topics have none."""
        return dict(self._fitted().topic_names)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that `transform` returns, with the names of topics.

        Parameters
        ----------
        input_features : None, default=None
            Ignored.

        Returns
        -------
        str array of shape [T]
            Such as ``"hdsp0"``, or ``"hdsp3 Budget"`` for a topic with a name.
        """
        columns = super().get_feature_names_out(input_features)
        names = self._fitted().topic_names
        return np.array(
            [f"{one} {names[k]}" if k in names else one for k, one in enumerate(columns)],
            dtype=object,
        )
