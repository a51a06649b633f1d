"""What methods cite, in BibTeX."""

import re

REFERENCES = {
    "kim2017": """@article{kim2017,
  author = {Kim, Dongwoo and Oh, Alice},
  title = {Hierarchical {D}irichlet scaling process},
  journal = {Machine Learning},
  volume = {106},
  pages = {387--418},
  year = {2017}
}""",
    "teh2006": """@article{teh2006,
  author = {Teh, Yee Whye and Jordan, Michael I. and Beal, Matthew J. and Blei, David M.},
  title = {Hierarchical {D}irichlet processes},
  journal = {Journal of the American Statistical Association},
  volume = {101},
  number = {476},
  pages = {1566--1581},
  year = {2006}
}""",
    "hoffman2013": """@article{hoffman2013,
  author = {Hoffman, Matthew D. and Blei, David M. and Wang, Chong and Paisley, John},
  title = {Stochastic variational inference},
  journal = {Journal of Machine Learning Research},
  volume = {14},
  pages = {1303--1347},
  year = {2013}
}""",
    "bischof2012": """@inproceedings{bischof2012,
  author = {Bischof, Jonathan M. and Airoldi, Edoardo M.},
  title = {Summarizing topical content with word frequency and exclusivity},
  booktitle = {Proceedings of the 29th International Conference on Machine Learning},
  year = {2012}
}""",
    "bouma2009": """@inproceedings{bouma2009,
  author = {Bouma, Gerlof},
  title = {Normalized (pointwise) mutual information in collocation extraction},
  booktitle = {Proceedings of the Biennial GSCL Conference},
  pages = {31--40},
  year = {2009}
}""",
}


def references_of(methods: str) -> str:
    """The entries of what a text cites."""
    cited = set(re.findall(r"\[@(\w+)\]", methods))
    return "".join(f"{entry}\n\n" for key, entry in REFERENCES.items() if key in cited)
