"""Port PoolConfiguration with pools or problems that a test sets."""

from application.ports.pool_configuration import Configuration, ConfigurationInvalid, Problem
from domain.pool import PoolSpec


class FakePoolConfiguration:
    """A configuration in memory."""

    def __init__(self, *pools: PoolSpec, problems: tuple[Problem, ...] = ()) -> None:
        self.pools = pools
        self.problems = problems

    def load(self) -> Configuration:
        if any(problem.fatal for problem in self.problems):
            raise ConfigurationInvalid("memory", self.problems)
        return Configuration(self.pools, self.problems)
