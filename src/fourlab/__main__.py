"""`python -m fourlab` is the command `fourlab`."""

from fourlab.cli import main

if __name__ == "__main__":
    main()
