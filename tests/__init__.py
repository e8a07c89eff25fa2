"""Tests, fakes and test beds; nothing here ships."""

import os

# Before grpc is imported, or it does not count: the C core is chatty about cut connections.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
