"""Reading one member of a remote zip archive through byte ranges, without the archive."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

ReadRange: TypeAlias = Callable[[int, int], bytes | None]
"""``read(first, last)`` gives the bytes from ``first`` to ``last`` inclusive, ``read(-n, 0)`` the last n."""

TAIL_BYTES: Final = 64 << 10
_END: Final = struct.Struct("<4s4H2LH")  # end of central directory, APPNOTE 4.3.16
_ENTRY: Final = struct.Struct("<4s6H3L5H2L")  # central directory header, 4.3.12
_LOCAL: Final = struct.Struct("<4s5H3L2H")  # local file header, 4.3.7
_STORED: Final = 0
_DEFLATED: Final = 8
_LIMIT: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class _Window:
    """Known bytes of the archive from ``start`` on."""

    start: int
    data: bytes

    def part(self, start: int, size: int) -> bytes | None:
        begin = start - self.start
        return self.data[begin : begin + size] if begin >= 0 and begin + size <= len(self.data) else None


def remote_member(read: ReadRange, wanted: Callable[[str], bool]) -> bytes | None:
    """The first member whose name is ``wanted``; None if there is none, ranges do not work or the archive is odd.

    Odd are zip64, encryption, compression other than deflate, and data before the archive.
    """
    tail = read(-TAIL_BYTES, 0)
    if not tail:
        return None
    place = tail.rfind(b"PK\x05\x06")
    if place < 0 or place + _END.size > len(tail):
        return None
    _, _, _, _, _, directory_size, directory_start, _ = _END.unpack_from(tail, place)
    if 0xFFFFFFFF in {directory_size, directory_start} or directory_size > _LIMIT:
        return None
    window = _Window(directory_start + directory_size - place, tail)
    directory = window.part(directory_start, directory_size)
    if directory is None:
        directory = read(directory_start, directory_start + directory_size - 1)
    found = _find(directory or b"", wanted)
    if found is None:
        return None
    method, packed_size, name_length, start = found
    size = _LOCAL.size + name_length + 512 + packed_size  # the local extra field may be longer than the directory's
    content = window.part(start, min(size, directory_start - start))
    if content is None:
        content = read(start, min(start + size, directory_start) - 1)
    return _unpacked(content or b"", method, packed_size)


def _find(directory: bytes, wanted: Callable[[str], bool]) -> tuple[int, int, int, int] | None:
    """Compression method, packed size, length of the name, and offset of the local header of the wanted member."""
    place = 0
    while directory[place : place + 4] == b"PK\x01\x02" and place + _ENTRY.size <= len(directory):
        fields = _ENTRY.unpack_from(directory, place)
        flags, method, packed_size, sizes, start = fields[3], fields[4], fields[8], fields[10:13], fields[16]
        name = directory[place + _ENTRY.size : place + _ENTRY.size + sizes[0]].decode("utf-8", "replace")
        if wanted(name):
            readable = not flags & 1 and method in {_STORED, _DEFLATED} and packed_size <= _LIMIT
            return (method, packed_size, sizes[0], start) if readable else None
        place += _ENTRY.size + sum(sizes)
    return None


def _unpacked(content: bytes, method: int, packed_size: int) -> bytes | None:
    if content[:4] != b"PK\x03\x04" or len(content) < _LOCAL.size:
        return None
    name_length, extra_length = _LOCAL.unpack_from(content)[9:11]
    start = _LOCAL.size + name_length + extra_length
    packed = content[start : start + packed_size]
    if len(packed) != packed_size:
        return None
    try:
        return packed if method == _STORED else zlib.decompress(packed, -zlib.MAX_WBITS)
    except zlib.error:
        return None
