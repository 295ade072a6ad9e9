"""Long-running work: jobs, run folders, and the executors that work in parallel."""
