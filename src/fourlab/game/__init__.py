"""Connect Four itself: positions, outcomes, notations. Plain Python, so it imports quickly."""
