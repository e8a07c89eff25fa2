"""The real kubelet's device manager, 1.32 to 1.37, as the judge of fake and daemon."""
