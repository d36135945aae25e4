"""The processes of deploy/ behind a real nginx, on free ports of this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.startup import ROOT, free_port, wait_until_up

DEPLOY = ROOT / "deploy"
CONFIG = (DEPLOY / "nginx.conf").read_text("utf-8")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
PREFIX = "llmviz"  # the path that the app lies below


@dataclass
class Running:
    """The running processes, nginx last, and where nginx answers."""

    port: int
    ports: list[int]
    processes: list[subprocess.Popen[bytes]]
    runs: Path

    @property
    def host(self) -> str:
        """The address of nginx with its port."""
        return f"127.0.0.1:{self.port}"


def app_command() -> list[str]:
    """Return what the image runs, with this Python's Streamlit."""
    dockerfile = (DEPLOY / "Dockerfile").read_text("utf-8")
    (command,) = re.findall(r"^CMD (\[.*\])$", dockerfile, re.M)
    program, *rest = json.loads(command)
    assert program == "streamlit"
    return [sys.executable, "-m", "streamlit", *rest]


@contextmanager
def behind_nginx(folder: Path, **environment: str) -> Iterator[Running]:
    """Run two processes and nginx, for as long as the block runs.

    folder: for runs and the files of nginx. environment: of the processes, added to this one's.

    Raises RuntimeError: nginx is not installed.
    """
    if NGINX is None:
        raise RuntimeError("nginx is not installed")
    runs, port, ports = folder / "runs", free_port(), [free_port(), free_port()]
    runs.mkdir()
    config = CONFIG.replace("listen 80;", f"listen 127.0.0.1:{port};")
    for number, own in enumerate(ports, 1):
        config = config.replace(f"app-{number}:8501", f"127.0.0.1:{own}")
    (folder / "nginx.conf").write_text(config, encoding="utf-8")
    given = {**os.environ, "LLMVIZ_RUNS": str(runs), "STREAMLIT_SERVER_COOKIE_SECRET": "s"}
    given |= {"FORWARDED_ALLOW_IPS": "*", **environment}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = []
    for own in ports:
        command = app_command()
        command[command.index("8501")] = str(own)
        processes.append(subprocess.Popen(command, cwd=ROOT, env=given, **quiet))
    main = "daemon off; pid nginx.pid; error_log stderr;"
    if os.geteuid() == 0:
        main += " user root;"  # the folder of the tests is closed to others
    processes.append(
        subprocess.Popen([NGINX, "-p", str(folder), "-c", "nginx.conf", "-g", main], cwd=folder)
    )
    try:
        for own in ports:
            wait_until_up(f"http://127.0.0.1:{own}/{PREFIX}")
        wait_until_up(f"http://127.0.0.1:{port}/{PREFIX}")
        yield Running(port, ports, processes, runs)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
