"""What happens: the use cases, in terms of the domain and of ports."""
