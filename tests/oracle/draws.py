"""Random numbers as the simulator draws them: functions of a seed, without state."""

BITS = (1 << 64) - 1


def mix(word):
    """SplitMix64's finaliser."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & BITS
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & BITS
    return word ^ (word >> 31)


def stream(seed, number):
    return mix((seed + 0x9E3779B97F4A7C15 * (number + 1)) & BITS)


def permuted(value, size, key):
    """A Feistel network of four rounds over an even number of bits, walked into the range."""
    half = 1
    while 1 << (2 * half) < size:
        half += 1
    mask = (1 << half) - 1
    while True:
        left, right = value >> half, value & mask
        for turn in range(4):
            left, right = right, left ^ mix((key + right * 4 + turn) & BITS) & mask
        value = left << half | right
        if value < size:
            return value
