"""Liveness and readiness for whoever asks over HTTP, such as the kubelet's probes."""
