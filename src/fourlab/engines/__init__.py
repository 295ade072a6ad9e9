"""Outside programs as agents, and agents as programs for others."""
