"""Statistics of fitted models: a reading of documents, regressions on labels, and tables.

Internal: names here may change without notice.
"""
