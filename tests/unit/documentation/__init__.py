"""The documentation is true: its commands answer as printed, its files load, its tables are those of the code."""
