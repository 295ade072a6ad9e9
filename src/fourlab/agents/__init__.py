"""The agents, one folder per family; `registry.make` builds one from a spec."""
