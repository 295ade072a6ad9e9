"""Compiled functions on plain integers and arrays: the arithmetic below everything else.

`rules` holds the game's rules as ordinary Python; `board` is the same rules, compiled. The other modules are compiled
searches and counts built on them. Nothing here knows about positions, agents or files.
"""
