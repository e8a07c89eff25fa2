"""What the daemon's process needs and withstands, on the kernel of this machine."""
