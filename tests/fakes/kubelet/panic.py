"""The end of a kubelet by a nil pointer."""


class KubeletPanic(Exception):
    """The process is gone; a real one leaves a trace and exit code 2."""


def nil_dereference(where: str) -> KubeletPanic:
    return KubeletPanic(f"runtime error: invalid memory address or nil pointer dereference: {where}")
