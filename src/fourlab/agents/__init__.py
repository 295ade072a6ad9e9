"""Players of every school, each made from a spec by `registry.make`."""
