"""`python -m weft` is the command `weft`."""

from weft.deploy.cli import main

if __name__ == "__main__":
    main(prog_name="weft")
