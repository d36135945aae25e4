"""Which visitors may import models: those on the server's own machine, and whom its owner allows.

A visitor must not fill the server's disk, nor read its folders. The setting LLMVIZ_IMPORT says who
may import: `machine` (as without it) those at the machine itself, `anyone` every visitor, but from
the hub only, `nobody` nobody. The command line asks for none of this.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import streamlit as st

SETTING = "LLMVIZ_IMPORT"
MACHINE, ANYONE, NOBODY = "machine", "anyone", "nobody"
LOCAL = ("localhost", "127.0.0.1", "[::1]")
# What a proxy adds to what it passes on; behind one everybody seems to be at the machine.
PASSED_ON = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def may_import() -> tuple[bool, bool]:
    """Whether this visitor may import from the hub, and folders of the server.

    Raises ValueError for a setting that is none.
    """
    setting = os.environ.get(SETTING) or MACHINE
    if setting not in (MACHINE, ANYONE, NOBODY):
        raise ValueError(f"{SETTING} must be {MACHINE}, {ANYONE} or {NOBODY}; got {setting!r}")
    own = setting != NOBODY and at_machine(st.context.ip_address, st.context.headers)
    return own or setting == ANYONE, own


def at_machine(address: str | None, headers: Mapping[str, str]) -> bool:
    """Whether a browser runs on the server's own machine.

    address: of the connection, None for the machine's own. headers: of its first request. What a
    proxy passes on, or was asked for under another name than this machine's own, is not.
    """
    given = {name.lower(): value for name, value in headers.items()}
    if address is not None or any(name in given for name in PASSED_ON):
        return False
    host = given.get("host", "")
    return host.rpartition(":")[0] in LOCAL or host in LOCAL
