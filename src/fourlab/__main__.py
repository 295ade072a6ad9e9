"""`python -m fourlab` is the command `fourlab`."""

from fourlab import _command

if __name__ == "__main__":
    _command()
