import fourlab


def test_the_public_names_are_these() -> None:
    assert fourlab.__all__ == [
        "RED",
        "YELLOW",
        "Agent",
        "Decision",
        "Evaluation",
        "Evaluator",
        "Exact",
        "IllegalColumn",
        "ImpossiblePosition",
        "Limit",
        "Outcome",
        "Position",
        "Rules",
        "Stop",
        "UserError",
        "add_position",
        "make",
    ]


def test_the_public_names_are_sorted_and_exist() -> None:
    assert fourlab.__all__ == sorted(fourlab.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name))
    assert all(hasattr(fourlab, name) for name in fourlab.__all__)
