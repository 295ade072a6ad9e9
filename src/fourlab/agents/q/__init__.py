"""Q-learning in a table: kernel, agent, training."""
