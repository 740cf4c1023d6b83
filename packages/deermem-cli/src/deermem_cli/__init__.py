"""The `deermem` command: what does a capacity policy cost an agent's memory?"""

from __future__ import annotations

__version__ = "0.1.0"
