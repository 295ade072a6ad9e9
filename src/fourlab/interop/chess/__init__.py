"""Chess, by the same tree search that plays Connect Four in the textbook; the rules are python-chess's."""
