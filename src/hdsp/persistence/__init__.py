"""Models and unfinished fits in files: versioned, checked on reading, free of code."""
