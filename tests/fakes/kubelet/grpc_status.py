"""gRPC failures in the words grpc-go gives them, since kubelet puts those into its messages."""

import asyncio
import os
import socket
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

import grpc

from tests.fakes.kubelet.tasks import cancelled_from_outside

T = TypeVar("T")

_CLOSING = "grpc: the client connection is closing"


class CallFailed(Exception):
    """A call that ended in a status other than OK."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(f"rpc error: code = {_camel(code)} desc = {details}")
        self.code = code
        self.details = details


async def outcome(call: Awaitable[T], path: Path) -> T:
    """Await a call to the server on this path; whatever goes wrong becomes CallFailed."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise CallFailed(error.code(), _details(error, path)) from None
    except asyncio.CancelledError:
        if cancelled_from_outside():
            raise
        raise CallFailed(grpc.StatusCode.CANCELLED, _CLOSING) from None


def _details(error: grpc.aio.AioRpcError, path: Path) -> str:
    details = error.details() or ""
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return "context deadline exceeded"
    if error.code() is grpc.StatusCode.UNAVAILABLE and (reason := _cannot_connect(path)):
        return f'connection error: desc = "transport: Error while dialing: dial unix {path}: connect: {reason}"'
    return details


def _cannot_connect(path: Path) -> str:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)  # a full backlog is an answer, too
        if number := probe.connect_ex(str(path)):
            return os.strerror(number).lower()
    return ""


def _camel(code: grpc.StatusCode) -> str:
    return {"OK": "OK", "CANCELLED": "Canceled"}.get(code.name) or code.name.title().replace("_", "")
