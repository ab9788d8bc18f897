"""What the scripts that time kernels begin with (decode.py, varlen.py)."""

import random
import sys


def torch_of(script):
    """PyTorch, seeded; ends the script with 1 where it is missing and with 3 without a GPU."""
    try:
        import torch
    except ImportError:
        sys.exit(f"{script}: PyTorch is missing")
    if not torch.cuda.is_available():
        print(f"{script}: no GPU", file=sys.stderr)
        sys.exit(3)
    torch.manual_seed(1)
    random.seed(1)
    return torch
