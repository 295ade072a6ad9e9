"""Figures, pages and measurements; every subject makes its own report with them."""
