"""Windows' locks of bytes on a system that has others: `msvcrt.locking` as Microsoft describes it.

Linux's locks of an open file description are as those of a Windows handle: they cover bytes, belong
to the handle and end with it. What is open for reading alone has a lock that keeps writers out.
"""

import fcntl
import os
import struct

LK_UNLCK, LK_NBLCK = 0, 2
HIGHEST = 2**31


def locking(descriptor: int, mode: int, count: int) -> None:
    """Lock or unlock bytes from the position on; PermissionError if somebody else has some."""
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    assert position + count <= HIGHEST, "Windows takes positions of 31 bits"
    writable = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    taken = fcntl.F_WRLCK if writable else fcntl.F_RDLCK
    kind = {LK_UNLCK: fcntl.F_UNLCK, LK_NBLCK: taken}[mode]
    asked = struct.pack("hhqqi4x", kind, os.SEEK_SET, position, count, 0)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, asked)
    except BlockingIOError as error:
        raise PermissionError(error.errno, error.strerror) from None
