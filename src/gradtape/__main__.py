"""`python -m gradtape`: the command line."""

import sys

from gradtape.cli import main

if __name__ == "__main__":
    sys.exit(main())
