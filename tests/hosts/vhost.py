"""The shared vhost-net and tun nodes."""

from typing import Final

VHOST_NET: Final = "dev/vhost-net"
TUN: Final = "dev/net/tun"
