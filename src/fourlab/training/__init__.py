"""Training agents: the resumable loop, batches of games, replay buffers and evaluation."""
