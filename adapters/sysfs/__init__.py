"""The host below a root directory: sysfs, procfs and device nodes."""
