"""An assembler for `blocks.wat` alone, after the specification of WebAssembly's binary format.

One instruction a line; each function has parameters, locals, loops, and nothing that it returns.
Reference: the specification of WebAssembly 2.0, chapter 5, with the vector instructions' codes.
"""

from __future__ import annotations

import re
import struct
from itertools import groupby

TYPES = {"i32": 0x7F, "f32": 0x7D, "v128": 0x7B}
PLAIN = {
    **{"end": 0x0B, "i32.add": 0x6A, "i32.sub": 0x6B, "i32.shl": 0x74, "i32.lt_u": 0x49},
    **{"f32.add": 0x92, "f32.mul": 0x94},
}
MEMORY = {"f32.load": 0x2A, "i32.load16_u": 0x2F, "f32.store": 0x38}
LOCAL = {"local.get": 0x20, "local.set": 0x21, "local.tee": 0x22}
VECTOR = {
    **{"v128.load": 0x00, "i8x16.splat": 0x0F, "f32x4.splat": 0x13, "f32x4.extract_lane": 0x1F},
    **{"v128.and": 0x4E, "i8x16.shr_u": 0x6D, "i32x4.add": 0xAE, "i32x4.dot_i16x8_s": 0xBA},
    **{"i16x8.extend_low_i8x16_s": 0x87, "i16x8.extend_high_i8x16_s": 0x88},
    **{"i16x8.extend_low_i8x16_u": 0x89, "i16x8.extend_high_i8x16_u": 0x8A},
    **{"f32x4.convert_i32x4_s": 0xFA, "f32x4.add": 0xE4, "f32x4.mul": 0xE6},
}
LOOP, BRANCH_IF, I32, F32, VECTORS, EMPTY = 0x03, 0x0D, 0x41, 0x43, 0xFD, 0x40


def unsigned(number: int) -> bytes:
    """LEB128 of a number that is not negative."""
    found = bytearray()
    while True:
        number, part = number >> 7, number & 127
        found.append(part | (128 if number else 0))
        if not number:
            return bytes(found)


def signed(number: int) -> bytes:
    """LEB128 of a number with a sign bit; none here is negative."""
    plain = unsigned(number)
    return plain if not plain[-1] & 64 else plain[:-1] + bytes([plain[-1] | 128, 0])


def text(name: str) -> bytes:
    return unsigned(len(name)) + name.encode()


def listed(parts: list[bytes]) -> bytes:
    return unsigned(len(parts)) + b"".join(parts)


def section(number: int, content: bytes) -> bytes:
    return bytes([number]) + unsigned(len(content)) + content


def body(lines: list[str], names: list[str]) -> bytes:
    """The code of a function."""
    code, loops = bytearray(), []
    for line in lines:
        name, *rest = line.split()
        if name == "loop":
            loops.append(rest[0])
            code += bytes([LOOP, EMPTY])
        elif name == "br_if":
            code += bytes([BRANCH_IF]) + unsigned(loops[::-1].index(rest[0]))
        elif name in LOCAL:
            code += bytes([LOCAL[name]]) + unsigned(names.index(rest[0]))
        elif name == "i32.const":
            code += bytes([I32]) + signed(int(rest[0]))
        elif name == "f32.const":
            code += bytes([F32]) + struct.pack("<f", float(rest[0]))
        elif name in PLAIN:
            code.append(PLAIN[name])
            if name == "end":
                loops.pop()
        else:
            code += bytes([MEMORY[name]]) if name in MEMORY else b"\xfd" + unsigned(VECTOR[name])
            if rest and "=" in rest[0]:
                offset, align = (int(part.split("=")[1]) for part in rest)
                code += unsigned(align.bit_length() - 1) + unsigned(offset)
            elif rest:
                code.append(int(rest[0]))  # a lane
    return bytes(code) + b"\x0b"


def assembled(source: str) -> bytes:
    """Return the bytes of a module."""
    source = re.sub(r";;.*", "", source)
    ((module, field, pages),) = re.findall(r'\(import "(\w+)" "(\w+)" \(memory (\d+)\)\)', source)
    kinds: list[bytes] = []
    uses, exports, codes = [], [], []
    for export, content in re.findall(r'\(func \(export "(\w+)"\)(.*?)\n  \)', source, re.S):
        params = re.findall(r"\(param (\$\w+) (\w+)\)", content)
        own = re.findall(r"\(local (\$\w+) (\w+)\)", content)
        kind = b"\x60" + listed([bytes([TYPES[kind]]) for _, kind in params]) + listed([])
        if kind not in kinds:
            kinds.append(kind)
        exports.append(text(export) + b"\x00" + unsigned(len(uses)))
        uses.append(unsigned(kinds.index(kind)))
        lines = [line.strip() for line in content.splitlines()]
        code = body([line for line in lines if line and line[0] != "("],
                    [name for name, _ in params + own])  # fmt: skip
        groups = [(kind, len(list(some))) for kind, some in groupby(kind for _, kind in own)]
        locals_ = listed([unsigned(count) + bytes([TYPES[kind]]) for kind, count in groups])
        codes.append(unsigned(len(locals_ + code)) + locals_ + code)
    imports = [text(module) + text(field) + b"\x02\x00" + unsigned(int(pages))]
    return b"".join([
        b"\0asm\x01\0\0\0", section(1, listed(kinds)), section(2, listed(imports)),
        section(3, listed(uses)), section(7, listed(exports)), section(10, listed(codes)),
    ])  # fmt: skip
