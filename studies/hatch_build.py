"""The version of hdsp-studies is that of hdsp, on whose release it depends."""

import tomllib
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class SameRelease(MetadataHookInterface):
    """Reads the version of hdsp from the checkout; a source distribution has it in its metadata."""

    def update(self, metadata):
        """Set the version, and the dependencies: hdsp's own release, for more than public names."""
        text = (Path(self.root).parent / "pyproject.toml").read_text(encoding="utf-8")
        version = tomllib.loads(text)["project"]["version"]
        metadata["version"] = version
        peers = ["gensim>=4.4", "tomotopy>=0.13", "topica>=0.60"]
        metadata["dependencies"] = [f"hdsp[plots]=={version}", *peers]
