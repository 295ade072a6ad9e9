"""Modules that stand in submissions for modules of Fourlab's: what those need is not on Kaggle, or not wanted there."""
