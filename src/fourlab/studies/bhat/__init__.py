"""Bhat's experiments: MC40 against MC200 on a 5x6 board, and Q-learning against MC25 and MC_n."""
