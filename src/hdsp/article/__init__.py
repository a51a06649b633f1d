"""Methods, tables, figures and references of a model for an article."""
