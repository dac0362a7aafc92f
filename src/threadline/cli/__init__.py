"""The command line: `threadline optimize | fit | restore | count | check | convert`."""

from threadline.cli.app import main

__all__ = ["main"]
