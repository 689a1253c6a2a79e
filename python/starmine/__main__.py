"""`python -m starmine` is the command `starmine`."""

import sys

from starmine.cli import main

if __name__ == "__main__":
    sys.exit(main())
