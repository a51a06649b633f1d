"""Where passes over blocks of documents run: threads, or a Dask cluster."""
