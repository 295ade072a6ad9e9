"""Long work: run folders, and the executors that do it in parallel."""
