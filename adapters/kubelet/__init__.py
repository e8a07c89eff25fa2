"""The kubelet: device plugin servers, registration and pod resources over gRPC."""
