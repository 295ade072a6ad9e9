"""What Connect Four is: positions, outcomes, notations. Plain Python, nothing compiled, quick to import."""
