"""Questions that sysfs cannot answer, asked over netlink and only when the configuration needs the answer."""
