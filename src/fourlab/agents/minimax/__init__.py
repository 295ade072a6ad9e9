"""Alpha-beta search, Kaggle's negamax, exact play against a random opponent."""
