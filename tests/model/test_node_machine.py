"""Random histories of a node, against what must hold all the while."""

import os
from typing import Final

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.ground import ground
from tests.model.machine import NodeMachine

_EXAMPLES: Final = 200
_STEPS: Final = 12


def _settings() -> settings:
    """The same examples each time, unless SRIOVDP_MODEL=examples,steps asks for others.

    Nothing is shrunk: a shorter story would have to fail again, and what depends on time need not.
    """
    asked = os.environ.get("SRIOVDP_MODEL", "")
    examples, steps = map(int, asked.split(",")) if asked else (_EXAMPLES, _STEPS)
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=not asked,
        database=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )


def test_a_node_is_in_order_whatever_happens_to_it() -> None:
    with ground() as here:

        class Machine(NodeMachine):
            ground = here

        try:
            run_state_machine_as_test(Machine, settings=_settings())
        except Exception:
            if here.failure is not None:
                raise here.failure from None
            raise
