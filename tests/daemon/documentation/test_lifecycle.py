"""docs/lifecycle.md: what is told there is what happens."""

import asyncio
from collections import Counter
from typing import Final

import pytest

from tests.daemon.documentation import of_configuration, of_host, of_kubelet
from tests.daemon.documentation.teller import Played, Said, Scene
from tests.unit.documentation.markdown import LIFECYCLE, fenced, sections

SCENES: Final = of_kubelet.SCENES | of_host.SCENES | of_configuration.SCENES


async def played() -> dict[str, list[Played]]:
    """Every scene, four at a time: most of the time they wait."""
    stage = asyncio.Semaphore(4)

    async def play(scene: Scene) -> Played:
        async with stage:
            return await scene.play()

    flat = iter(await asyncio.gather(*(play(scene) for scenes in SCENES.values() for scene in scenes)))
    return {heading: [next(flat) for _ in scenes] for heading, scenes in SCENES.items()}


def printed(block: str) -> Played:
    """The steps of a block of log lines, and the lines after each, with their seconds."""
    steps: Played = []
    for line in block.splitlines():
        if line.startswith("# "):
            steps.append((line.removeprefix("# "), []))
        else:
            seconds, _, rest = line.strip().partition("  ")
            steps[-1][1].append(Said(float(seconds), rest))
    return steps


@pytest.fixture(scope="session")
def performance() -> dict[str, list[Played]]:
    return asyncio.run(played())


def test_every_section_of_the_life_cycle_with_a_log_is_played() -> None:
    logs = {heading: len(fenced(content, "log")) for heading, content in sections(LIFECYCLE).items()}

    assert {heading: number for heading, number in logs.items() if number} == {
        heading: len(scenes) for heading, scenes in SCENES.items()
    }


@pytest.mark.parametrize("heading", SCENES)
def test_the_log_of_a_life_cycle_event_is_the_daemons(heading: str, performance: dict[str, list[Played]]) -> None:
    for block, told in zip(fenced(sections(LIFECYCLE)[heading], "log"), performance[heading], strict=True):
        assert [step for step, _ in printed(block)] == [step for step, _ in told]
        for (step, lines), (_, said) in zip(printed(block), told, strict=True):
            assert not Counter(line.line for line in lines) - Counter(line.line for line in said), (step, said)
