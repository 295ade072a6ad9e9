"""Add the project's addresses to its metadata when it is built where they are known.

FOURLAB_URL is the address of the repository. On GitHub Actions it follows from GITHUB_SERVER_URL
and GITHUB_REPOSITORY, which are set there. Without them the metadata has no addresses.
"""

import os
import re
from collections.abc import Mapping
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


def project_urls(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses by their names in the metadata; none if they are not known."""
    address = environment.get("FOURLAB_URL", "")
    server = environment.get("GITHUB_SERVER_URL", "")
    repository = environment.get("GITHUB_REPOSITORY", "")
    if not address and server and repository:
        address = f"{server}/{repository}"
    if not address:
        return {}
    if re.fullmatch(r"https?://[^\s,]+", address) is None:
        raise ValueError(f"the address of the repository begins with https://, not {address!r}")
    address = address.rstrip("/").removesuffix(".git")
    return {
        "Source": address,
        "Documentation": f"{address}/blob/HEAD/docs/index.md",
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/HEAD/CHANGELOG.md",
    }


class ProjectUrls(MetadataHookInterface):
    """Fills the dynamic field `urls` of pyproject.toml."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the addresses, if they are known."""
        if urls := project_urls(os.environ):
            metadata["urls"] = urls
