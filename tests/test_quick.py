"""The selection of tests for `make quick`."""

from tests.quick import chosen, sources


def test_without_changes_only_the_core_is_tested() -> None:
    files = chosen(frozenset())
    assert "tests/game/test_position.py" in files
    assert "tests/contract/test_agents.py" in files
    assert not any(file.startswith(("tests/cli", "tests/web", "tests/arena")) for file in files)


def test_a_changed_module_is_tested_by_its_mirror_and_its_importers() -> None:
    files = chosen(frozenset({"src/fourlab/arena/sprt.py"}))
    assert "tests/arena/test_sprt.py" in files
    assert "tests/arena/test_store.py" not in files
    importing = chosen(frozenset({"src/fourlab/agents/mcts/kernel.py"}))
    assert "tests/agents/mcts/test_reuse.py" in importing


def test_a_changed_test_is_run() -> None:
    assert "tests/arena/test_ratings.py" in chosen(frozenset({"tests/arena/test_ratings.py"}))


def test_slow_tests_are_never_chosen() -> None:
    everything = frozenset(sources()) | {"src/fourlab/nets/weights.py"}
    files = chosen(everything)
    assert "tests/nets/test_weights.py" not in files  # torch
    assert not any(file.startswith("tests/browser") for file in files)
    assert "tests/game/test_openspiel.py" not in files
