"""The page of the routes of the REST API, made from its OpenAPI schema."""

import json
from collections.abc import Iterator
from typing import Any

from fourlab.web.app import create_app
from tools.markdown import NOTE, code, paragraph, plain, table

INTRODUCTION = """# Routes of the REST API

{note}

Every route under `/api/v1`, with what it takes and returns, made from the server's own
`/api/v1/openapi.json`. [The REST API](rest-api.md) introduces them with examples and describes
errors and security.

"""
OBJECTS = """## Objects

What routes take and return. Fields without a default are required in requests, and always there in
answers.

"""
PREFIX = "/api/v1/"
HEAD = ("field", "default", "values", "meaning")
TAGS = {
    "about": "The server",
    "positions": "Positions",
    "agents": "Agents",
    "analysis": "Analyses",
    "games": "Reviews",
    "lab": "The lab",
}
"""The headings of groups of routes."""


def page() -> str:
    """Return the page."""
    schema = create_app().openapi()
    routes = [
        (method.upper(), path, route)
        for path, methods in schema["paths"].items()
        for method, route in methods.items()
    ]
    parts = [INTRODUCTION.format(note=NOTE)]
    for tag, title in TAGS.items():
        parts.append(f"## {title}\n\n")
        for method, path, route in routes:
            if tag in route["tags"]:
                parts += _route(method, path, route)
    parts.append(OBJECTS)
    for name, shape in schema["components"]["schemas"].items():
        parts.append(f"### {name}\n\n{paragraph(shape['description'])}")
        parts.append(table(HEAD, _fields(shape)) + "\n")
    return "".join(parts).rstrip() + "\n"


def _route(method: str, path: str, route: dict[str, Any]) -> Iterator[str]:
    """Yield the section of a route."""
    yield f"### {method} {path.removeprefix(PREFIX)}\n\n"
    yield paragraph(route["description"])
    if parameters := route.get("parameters"):
        yield table(("parameter", *HEAD[1:]), map(_parameter, parameters)) + "\n"
    takes = _content(route.get("requestBody", {}))
    # The schema of a stream has no fields; the route's description names its events.
    returns = _content(route["responses"]["200"]) or "server-sent events"
    yield f"Takes {takes}; returns {returns}.\n\n" if takes else f"Returns {returns}.\n\n"


def _content(part: dict[str, Any]) -> str:
    """Return what a request or an answer contains, in words."""
    for kind, content in part.get("content", {}).items():
        if kind != "application/json":
            return str(kind)
        return _kind(content["schema"])
    return ""


def _parameter(parameter: dict[str, Any]) -> list[str]:
    described = {"description": parameter.get("description", ""), **parameter["schema"]}
    return _cells(parameter["name"], described, parameter.get("required", False))


def _fields(shape: dict[str, Any]) -> list[list[str]]:
    required = shape.get("required", [])
    return [
        _cells(name, field, name in required) for name, field in shape.get("properties", {}).items()
    ]


def _cells(name: str, field: dict[str, Any], is_required: bool) -> list[str]:
    default = "" if is_required else json.dumps(field.get("default"))
    return [code(name), code(default), _kind(field), plain(field.get("description", ""))]


def _kind(field: dict[str, Any]) -> str:
    """Return the values of a field in words."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        return " or ".join(_kind(choice) for choice in field["anyOf"])
    if "enum" in field:
        return ", ".join(code(str(value)) for value in field["enum"])
    match field.get("type"):
        case "array":
            return f"list of {_kind(field.get('items', {}))}"
        case "object" if isinstance(field.get("additionalProperties"), dict):
            return f"object of {_kind(field['additionalProperties'])}"
        case "object":
            return "object"
        case "integer":
            return "whole number" + _range(field)
        case "number":
            return "number" + _range(field)
        case "string":
            most = field.get("maxLength")
            return f"text of at most {most:,} characters" if most else "text"
        case "boolean":
            return "true or false"
        case "null":
            return "null"
    return "any value"


def _range(field: dict[str, Any]) -> str:
    words = []
    for name, text in (
        ("minimum", "at least"),
        ("exclusiveMinimum", "greater than"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "less than"),
    ):
        if name in field:
            number = field[name]
            words.append(f"{text} {number:,.0f}" if number == int(number) else f"{text} {number}")
    return f", {' and '.join(words)}" if words else ""
