"""A clone with Windows' line ends holds the same bytes: checksums are those of bytes."""

from __future__ import annotations

import hashlib
import re
import subprocess

import pytest

from llmviz.training.files import MANIFEST, check_manifest
from tests.sources import ROOT

WINDOWS = ("-c", "core.autocrlf=true", "-c", "core.eol=crlf")


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """What a clone on Windows writes; the conversion is git's own."""
    folder = tmp_path_factory.mktemp("clone")
    written = subprocess.run(
        ("git", *WINDOWS, "checkout-index", "--all", f"--prefix={folder.as_posix()}/"),
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if written.returncode:
        pytest.skip(f"git has no clone here to write: {written.stderr.strip()}")
    return folder


def test_a_windows_clone_holds_the_very_bytes_that_git_keeps(clone):
    listed = subprocess.run(("git", "ls-files", "-sz"), cwd=ROOT, capture_output=True, check=True)
    kept = [entry.split("\t") for entry in listed.stdout.decode("utf-8").split("\0") if entry]
    assert len(kept) > 1000
    changed = []
    for about, name in kept:
        content = (clone / name).read_bytes()
        if hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() != about.split()[1]:
            changed.append(name)
    assert not changed


def test_every_bundled_file_of_a_windows_clone_has_its_checksum(clone):
    manifests = list((clone / "data").rglob(MANIFEST))
    assert len(manifests) >= 20
    for manifest in manifests:
        check_manifest(manifest.parent)
    readme = (clone / "data" / "README.md").read_text("utf-8")
    listed = re.findall(r"^([0-9a-f]{64})  (\S+)$", readme, re.MULTILINE)
    assert len(listed) >= 5
    for sha256, name in listed:
        assert hashlib.sha256((clone / "data" / name).read_bytes()).hexdigest() == sha256, name
