"""Search with a network that learns from self-play: kernel, agent, training."""
