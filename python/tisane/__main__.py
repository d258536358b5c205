"""`python -m tisane` is the program `tisane`."""

import sys

from .cli import main

sys.exit(main())
