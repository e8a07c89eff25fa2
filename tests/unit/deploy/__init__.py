"""Tests of what is deployed: the manifests against the daemon's own settings, and the Dockerfile."""
