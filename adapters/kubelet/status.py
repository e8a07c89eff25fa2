"""Which gRPC status each error of the domain becomes: the one table."""

import grpc

from domain.errors import (
    DeviceUnusable,
    FacilityAway,
    FacilityMissing,
    FilesUnwritable,
    FunctionRefused,
    HostUnreadable,
    HostUnresponsive,
    SeveralRefused,
    SriovError,
    UnknownDevice,
)

_STATUS: dict[type[SriovError], grpc.StatusCode] = {
    UnknownDevice: grpc.StatusCode.NOT_FOUND,
    DeviceUnusable: grpc.StatusCode.FAILED_PRECONDITION,
    FunctionRefused: grpc.StatusCode.FAILED_PRECONDITION,
    FacilityAway: grpc.StatusCode.FAILED_PRECONDITION,
    FacilityMissing: grpc.StatusCode.FAILED_PRECONDITION,
    SeveralRefused: grpc.StatusCode.FAILED_PRECONDITION,
    HostUnresponsive: grpc.StatusCode.DEADLINE_EXCEEDED,
    HostUnreadable: grpc.StatusCode.UNAVAILABLE,
    FilesUnwritable: grpc.StatusCode.UNAVAILABLE,
}


def status_of(error: SriovError) -> grpc.StatusCode:
    """The status for an error."""
    return _STATUS.get(type(error), grpc.StatusCode.INTERNAL)
