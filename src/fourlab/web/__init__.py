"""The web page and the REST API."""
