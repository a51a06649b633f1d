import pytest

from studies.tests.reproduction.stand_ins import write_corpora


@pytest.fixture(scope="session")
def corpora(tmp_path_factory):
    """The folder of corpora that stand in for the real ones."""
    return write_corpora(tmp_path_factory.mktemp("corpora"))
