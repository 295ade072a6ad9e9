"""Kaggle ConnectX: our agents as submissions, submissions as our agents."""
