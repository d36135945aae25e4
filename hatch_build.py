"""What an installed package needs: the pinned versions of requirements.txt."""

from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    """Reads the dependencies from requirements.txt, so that they are written once."""

    def update(self, metadata: dict) -> None:
        """Set the dependencies of the package."""
        lines = Path(self.root, "requirements.txt").read_text(encoding="utf-8").splitlines()
        metadata["dependencies"] = [line for line in lines if line and not line.startswith("#")]
