"""The neighbours: other programs, and how they and Fourlab use each other."""
