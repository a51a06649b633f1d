"""The public names, for type checkers and for `__init__.py`, which imports them when used."""

from . import datasets as datasets
from . import metrics as metrics
from . import plots as plots
from . import testing as testing
from .analysis.effects import TopicRegression as TopicRegression
from .corpus import Corpus as Corpus
from .corpus import Labels as Labels
from .corpus import TextSettings as TextSettings
from .corpus import open_corpus as open_corpus
from .corpus import prepare_corpus as prepare_corpus
from .corpus import read_counts as read_counts
from .corpus import read_folder as read_folder
from .corpus import read_table as read_table
from .estimator import HDSP as HDSP
from .exceptions import ClusterError as ClusterError
from .exceptions import FitWarning as FitWarning
from .exceptions import IntervalWarning as IntervalWarning
from .exceptions import LabelDataWarning as LabelDataWarning
from .exceptions import ModelFileError as ModelFileError
from .exceptions import NotSavedWarning as NotSavedWarning
from .exceptions import ReadError as ReadError
from .exceptions import StreamWarning as StreamWarning
from .exceptions import UnknownLabelWarning as UnknownLabelWarning
from .exceptions import UnreliableTopicsWarning as UnreliableTopicsWarning
from .model.simulate import simulate as simulate
from .scaling.functions import Categorical as Categorical
from .scaling.functions import Constant as Constant
from .scaling.functions import Custom as Custom
from .scaling.functions import LogLinear as LogLinear
from .scaling.functions import Monotone as Monotone
from .scaling.functions import Power as Power
from .scaling.functions import ScalingFunction as ScalingFunction
from .scaling.functions import Softplus as Softplus
from .scaling.terms import Factor as Factor
from .scaling.terms import Interaction as Interaction
from .scaling.terms import Ordered as Ordered
from .scaling.terms import Pooled as Pooled
from .scaling.terms import Spline as Spline
from .scaling.terms import Term as Term

__version__: str
