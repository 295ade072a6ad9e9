"""What submissions are made of: plain agents for Kaggle, which need nothing of Fourlab once they are stitched together.

Every module but the shared ones ends with a function `agent`. The exporter joins it with the modules it imports and fills in the
settings, which are the names in capitals.
"""
