"""What can be asked of a fitted model, one file for each answer.

A function takes a `FittedModel`, and what the method of `HDSP` takes that it is behind; it returns
an array, or the columns of a table. Internal: names here may change without notice.
"""
