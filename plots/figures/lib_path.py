"""Makes plots/lib importable; every figure imports this first."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))
