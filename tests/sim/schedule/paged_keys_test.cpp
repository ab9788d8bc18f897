// Pages of K and V: where their lines lie decides what sets and halves hold, and nothing else.
#include "sim/sets/simulate_sets.hpp"
#include "tests/support/line_sets.hpp"
#include "tests/support/property.hpp"
#include "tests/support/serving.hpp"

namespace sawtooth::sim {
namespace {

RC_GTEST_PROP(Serving, SetsSeeTheAddressesOfPages, ()) {
  tests::ServingProblem serving;
  make_any_serving_problem(serving);
  Request& request = serving.request;
  request.l2_bytes = tests::draw_sets(request.sets, 3);
  const AtomTable atoms(request);
  tests::LineBySet lines(request, atoms);
  LockstepWavefront(request, atoms, lines).run();
  Counters expected;
  for (const Counters& counters : lines.by_tensor) add(expected, counters);
  const Counters total = simulate_sets(request).total;
  RC_ASSERT(total.l2_read_miss_sectors.value_or(0) == expected.l2_read_miss_sectors.value_or(0));
  RC_ASSERT(total.l2_write_miss_sectors.value_or(0) == expected.l2_write_miss_sectors.value_or(0));
}

}  // namespace
}  // namespace sawtooth::sim
