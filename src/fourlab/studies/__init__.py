"""Replications of every experiment in the five reports, checked against exact values."""
