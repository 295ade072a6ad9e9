"""Deep Q-learning: agent and training."""
