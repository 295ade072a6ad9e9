"""Figures, HTML pages and speed measurements, from which every package makes its own reports."""
