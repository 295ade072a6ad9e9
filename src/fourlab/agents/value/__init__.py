"""A value network trained on solved positions: agent and training."""
