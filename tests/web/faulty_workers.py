"""Imported by the workers of a test: makes the agents that misbehave known to them."""

from tests.web.faulty import register

register()
