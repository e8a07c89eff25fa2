"""The fake kubelet behaves as the real one was seen to."""
