"""`python -m ccrag`."""

from ccrag.cli import main

main()
