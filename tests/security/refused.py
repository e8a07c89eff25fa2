"""python -m tests.security.refused -- COMMAND: become a command that may not make certain system calls.

Those are the calls that container runtimes refuse by default to a process without capabilities, as far as this test
knows their numbers; a call that it does not know is allowed. EPERM is the answer, as from the runtime.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterator, Mapping
from typing import Final

#: linux/audit.h: the architecture, and the numbers of the calls on it.
_X86_64: Final = 0xC000003E
_NUMBERS: Final[Mapping[str, int]] = {
    "pivot_root": 155,
    "chroot": 161,
    "acct": 163,
    "settimeofday": 164,
    "mount": 165,
    "umount2": 166,
    "swapon": 167,
    "reboot": 169,
    "sethostname": 170,
    "iopl": 172,
    "ioperm": 173,
    "init_module": 175,
    "delete_module": 176,
    "quotactl": 179,
    "clock_settime": 227,
    "kexec_load": 246,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "unshare": 272,
    "perf_event_open": 298,
    "fanotify_init": 300,
    "open_by_handle_at": 304,
    "setns": 308,
    "finit_module": 313,
    "bpf": 321,
    "userfaultfd": 323,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
}
_LOAD, _EQUAL, _ANSWER = 0x20, 0x15, 0x06
"""BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K (linux/bpf_common.h)."""
_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2


def supported() -> bool:
    return platform.machine() == "x86_64"


def install() -> None:
    """Refuse the calls from now on, in this process and in what it becomes.

    Raises:
        OSError: if the kernel does not filter.
    """
    program = b"".join(_program())
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in ((_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (_PR_SET_SECCOMP, _MODE_FILTER, header, 0, 0)):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def _program() -> Iterator[bytes]:
    refused = sorted(_NUMBERS.values())
    yield _instruction(_LOAD, 4)  # seccomp_data.arch
    yield _instruction(_EQUAL, _X86_64, if_not=len(refused) + 1)
    yield _instruction(_LOAD, 0)  # seccomp_data.nr
    for place, number in enumerate(refused):
        yield _instruction(_EQUAL, number, if_so=len(refused) - place)
    yield _instruction(_ANSWER, _ALLOW)
    yield _instruction(_ANSWER, _ERRNO | errno.EPERM)


def _instruction(code: int, operand: int, *, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_so, if_not, operand)


if __name__ == "__main__":
    if supported():
        install()
    command = sys.argv[sys.argv.index("--") + 1 :]
    os.execvp(command[0], command)  # noqa: S606 - the process becomes the command
