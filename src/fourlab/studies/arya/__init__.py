"""Replication of the experiments in Arya's thesis."""
