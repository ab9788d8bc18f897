"""300 random points, and 100 of two halves: `sawtooth simulate` gives every counter of the oracle,
tensor by tensor.

simulate_test.py SAWTOOTH [FIRST [COUNT]]. The oracle (schedule.py, cache.py, counters.py, halves.py
and what they import) is written from docs/ and shares no code with the simulator. A difference
prints the point as options.
"""

from agreement import Agreement, main

import counters
import halves
from halves_points import PROFILE, any_halves_point
from points import VALUES, any_point


class Oracle(Agreement):
    def test_simulate_gives_every_counter_of_the_oracle(self):
        numbers = range(self.first, self.first + self.points)
        points = {number: any_point(number) | {"gpu": "gb10"} for number in numbers}
        if self.points >= 300:
            for name, values in VALUES.items():
                drawn = {point[name] for point in points.values() if name in point}
                self.assertEqual(drawn, set(values))
            self.assertEqual({"order" in point for point in points.values()}, {True, False})
        self.agree(points, counters)

    def test_lines_of_two_halves_have_the_homes_of_the_oracle(self):
        points = {}
        for number in range(self.first, self.first + self.points // 3):
            point = any_halves_point(number)
            ways = point["l2_bytes"] // 2 // 128  # of one set
            point["gpu"] = self.write(f"{number}.ini", PROFILE.format(ways=ways, **point))
            points[number] = point
        self.agree(points, halves)


if __name__ == "__main__":
    main(Oracle, 300)
