"""What a reader changes in a fitted model: the names of its topics."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from hdsp.queries import FittedQueries
from hdsp.validation import check_topic_names


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
