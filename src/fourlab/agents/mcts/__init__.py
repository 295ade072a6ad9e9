"""Monte Carlo tree search: kernel, textbook version, agent, guided search, X-ray."""
