"""What the use cases need from outside, one Protocol a file."""
