"""Frames of HTTP/2, well-formed or not, without a client that minds the rules (RFC 9113, RFC 7541)."""

import struct
from typing import Final

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
END_STREAM: Final = 1
END_HEADERS: Final = 4
_INITIAL_WINDOW: Final = 4


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3) + struct.pack(">BBI", kind, flags, stream) + payload


def settings(initial_window: int) -> bytes:
    return frame(SETTINGS, 0, 0, struct.pack(">HI", _INITIAL_WINDOW, initial_window))


def call(stream: int, method: str, *, end_headers: bool = True) -> bytes:
    """The head of a call of v1beta1.DevicePlugin."""
    fields = {
        ":method": "POST",
        ":scheme": "http",
        ":path": f"/v1beta1.DevicePlugin/{method}",
        ":authority": "localhost",
        "content-type": "application/grpc",
        "te": "trailers",
    }
    block = b"".join(field(name, value) for name, value in fields.items())
    return frame(HEADERS, END_HEADERS if end_headers else 0, stream, block)


def field(name: str, value: str) -> bytes:
    """A header field, literally and not to be remembered."""
    return b"\x00" + _text(name) + _text(value)


def message(stream: int, announced: int, sent: bytes, *, last: bool = False) -> bytes:
    """The beginning of a message of so many bytes."""
    return frame(DATA, END_STREAM if last else 0, stream, b"\x00" + struct.pack(">I", announced) + sent)


def listen(stream: int) -> bytes:
    """A whole call of ListAndWatch."""
    return call(stream, "ListAndWatch") + message(stream, 0, b"", last=True)


def _text(text: str) -> bytes:
    raw = text.encode()
    if len(raw) > 126:
        raise ValueError(f"{len(raw)} bytes need a longer length")
    return bytes([len(raw)]) + raw
