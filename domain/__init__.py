"""What is true: values and rules of SR-IOV pools, without I/O, clock, logging or third parties."""
