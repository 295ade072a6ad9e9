"""`fourlab positions`: the positions that have a name."""

from fourlab.cli.options import JsonOption, print_json
from fourlab.game.named import named_positions, positions_file


def positions(json: JsonOption = False) -> None:
    """List the named positions; a name can be given wherever a position can.

    Your own go into a TOML file as lines of name = "position".
    """
    known = named_positions()
    if json:
        print_json([{"name": name, "position": each.text, "about": each.about} for name, each in known.items()])
        return
    for name, each in known.items():
        print(f"{name:16} {each.text}\n{'':16}   {each.about}")
    print(f"\nYour own: {positions_file()}")
