"""Tests of pattern networks, their training and their searches."""
