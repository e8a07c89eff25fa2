"""The table at the end of a soak."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.soak.tally import Tally
from tests.soak.usage import Usage

_ROW = "  {:28}{:>9}{:>10}{:>6}{:>9}{:>9}"


@dataclass(frozen=True, slots=True)
class Sample:
    when: str
    usage: Usage


def lines(tally: Tally, samples: list[Sample]) -> Iterator[str]:
    yield f"{sum(tally.steps.values())} steps"
    for name, number in tally.steps.most_common():
        yield f"  {name:28}{number:9}"
    yield f"  {'everything seen in order':28}{tally.settled:9}"
    yield f"  {'messages checked':28}{tally.messages:9}"
    yield f"  {'kubelet restarts':28}{tally.restarts:9}"
    yield f"  {'daemon starts':28}{tally.starts:9}"
    yield f"  {'CPU used, seconds':28}{tally.cpu:9.1f}"
    yield ""
    yield _ROW.format("the daemon", "RSS MB", "RssAnon", "fds", "threads", "CPU s")
    for sample in samples:
        yield row(sample)


def row(sample: Sample) -> str:
    use = sample.usage
    numbers = (f"{use.rss:.1f}", f"{use.anonymous:.1f}", str(use.files), str(use.threads), f"{use.cpu:.1f}")
    return _ROW.format(sample.when, *numbers)
