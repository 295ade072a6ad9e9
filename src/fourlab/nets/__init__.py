"""Neural networks: architectures, weights, evaluators. No other package defines torch modules."""
