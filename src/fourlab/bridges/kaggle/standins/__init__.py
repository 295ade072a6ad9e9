"""Modules that replace modules of Fourlab in submissions, where those need what Kaggle lacks."""
