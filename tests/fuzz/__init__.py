"""Random hosts that are broken on disk, under random configurations: what must hold whatever happens.

``SRIOVDP_FUZZ=10000`` runs that many examples, other ones each time; without it there are few, and always the same.
"""
