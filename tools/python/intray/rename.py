"""renameat2(RENAME_NOREPLACE), which Python's os has not.

There is no other way that keeps its promise: link() and unlink() give the file two names for a moment, and the executor refuses such a
file; rename() replaces what is there. So where the C library doesn't know the call it is made by its number, and where the kernel or the
filesystem doesn't, it fails.
"""
import ctypes
import errno
import os
import platform
from typing import Any, Callable, Optional

_RENAME_NOREPLACE = 1
_SYSCALL_NUMBERS = {"x86_64": 316, "aarch64": 276, "riscv64": 276, "ppc64le": 357, "s390x": 347}  # of 64-bit programs

_Call = Callable[[int, bytes, int, bytes], int]


def _find_call() -> Optional[_Call]:
    libc: Any = ctypes.CDLL(None, use_errno=True)
    try:
        wrapper = libc.renameat2  # glibc 2.28, musl 1.2.5
    except AttributeError:
        number = _SYSCALL_NUMBERS.get(platform.machine()) if ctypes.sizeof(ctypes.c_void_p) == 8 else None
        if number is None or not hasattr(libc, "syscall"):
            return None
        return by_number(libc, number)
    wrapper.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    wrapper.restype = ctypes.c_int
    return lambda from_dir, name, to_dir, to_name: int(wrapper(from_dir, name, to_dir, to_name, _RENAME_NOREPLACE))


def by_number(libc: Any, number: int) -> _Call:
    """The same call without the library's own function for it."""
    def call(from_dir: int, name: bytes, to_dir: int, to_name: bytes) -> int:
        syscall = libc.syscall
        syscall.restype = ctypes.c_long
        return int(syscall(ctypes.c_long(number), ctypes.c_long(from_dir), ctypes.c_char_p(name), ctypes.c_long(to_dir), ctypes.c_char_p(to_name),
                           ctypes.c_long(_RENAME_NOREPLACE)))
    return call


_call = _find_call()


def rename_noreplace(from_dir: int, name: str, to_dir: int, to_name: str) -> None:
    """Moves a file from one open directory to another in one step. Raises FileExistsError where `to_name` is taken, and OSError: nothing
    moved in either case, as far as the system knows. ENOSYS or EINVAL: no system or filesystem for an inbox."""
    if _call is None:
        raise OSError(errno.ENOSYS, "no renameat2 on this system")
    while _call(from_dir, os.fsencode(name), to_dir, os.fsencode(to_name)) != 0:
        number = ctypes.get_errno()
        if number != errno.EINTR:
            raise OSError(number, os.strerror(number), to_name)
