"""Device information for Multus and CNI plugins, as files."""
