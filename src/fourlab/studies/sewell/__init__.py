"""Replication of SeWell's experiments.

They are a tree search with negamax as part of the tree, a value network, and rollouts played by
that network.
"""
