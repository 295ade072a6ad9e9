"""`fourlab positions`: list the named positions."""

from fourlab.cli.options import JsonOption, print_json
from fourlab.game.named import named_positions, positions_file


def positions(json: JsonOption = False) -> None:
    """List the named positions.

    A name can be used wherever a command takes a position. Add your own to a TOML file, as lines
    of the form name = "position"; the last line of the list says where that file is.

    Example: fourlab positions --json
    """
    rows = [
        {"name": name, "position": position.text, "about": position.about}
        for name, position in named_positions().items()
    ]
    if json:
        print_json(rows)
        return
    for row in rows:
        print(f"{row['name']:16} {row['position']}\n{'':16}   {row['about']}")
    print(f"\nYour own: {positions_file()}")
