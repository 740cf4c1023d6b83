"""`python -m deermem_cli` is `deermem`."""

from __future__ import annotations

import sys

from .main import main

sys.exit(main())
