"""Files: arrays and JSON in a container that holds no code, and tables as CSV."""
