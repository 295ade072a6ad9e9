"""Every experiment of the five documents, run again beside the exact truth."""
