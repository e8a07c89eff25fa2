"""What the standard library's scanner of JSON calls, from version to version."""

from json.decoder import JSONArray  # type: ignore[attr-defined]  # a public name, not in typeshed
from typing import Any

import pytest

from adapters.config import located_json
from adapters.config.located_json import Located, _LocatingDecoder


def test_the_hook_for_arrays_of_python_3_15_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    older: Any = JSONArray

    def of_3_15(state: Any, scan: Any, array_hook: object) -> Any:
        assert array_hook is None
        return older(state, scan)

    monkeypatch.setattr(located_json, "JSONArray", of_3_15)
    decoder: Any = _LocatingDecoder()

    assert decoder.parse_array(("[1]", 1), decoder.scan_once, None) == ([Located(1, 1)], 3)
