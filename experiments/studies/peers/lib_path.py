"""Makes plots/lib (tables, statistics, the FLOP formula) importable; modules import this first."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
