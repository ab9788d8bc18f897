// A trace predicts what its schedule predicts, and what a stack of lines says.
#include "sim/trace/analyse.hpp"

#include "sim/lru/simulate_lru.hpp"
#include "tests/support/mattson_stack.hpp"
#include "tests/support/property.hpp"
#include "tests/support/same_predictions.hpp"
#include "tests/support/traces.hpp"

namespace sawtooth::sim {
namespace {

using tests::analysed;
using tests::same_counters;
using tests::same_histogram;
using tests::schedule_text;
using tests::Trace;

RC_GTEST_PROP(AnalyseTrace, ASchedulesTraceReadBackGivesItsCountersAndHistogram, ()) {
  Request request = tests::any_request();
  request.schedule.prefetch = tests::between(0, 3);
  const Prediction direct = simulate_lru(request);
  const auto format = static_cast<TraceFormat>(tests::between(0, 1));
  const bool by_lines = tests::between(0, 1) == 1;
  const Prediction back = analysed(schedule_text(request, format, by_lines), request.l2_bytes);
  RC_ASSERT(same_histogram(back.histogram, direct.histogram));
  RC_ASSERT(same_counters(back, direct));
  if (!by_lines) RC_ASSERT(back.tile_visits == direct.tile_visits);
}

// Every line of every visit goes through a list of lines, one worker after the other.
DistanceHistogram by_lines(const Trace& trace) {
  DistanceHistogram histogram;
  tests::MattsonStack stack;
  for (const TraceVisit& visit : trace.visits) {
    const TraceAtom& atom = trace.atoms[visit.atom];
    DistanceClass& distances = histogram.of(atom.tensor, visit.access);
    for (uint32_t touch = 0; touch < visit.times * atom.lines; ++touch) {
      const uint32_t at = touch % atom.lines;
      const uint32_t line = visit.backwards ? atom.lines - 1 - at : at;
      const bool last = line + 1 == atom.lines;
      const int64_t sectors = last ? atom.sectors - (atom.lines - 1) * sectors_per_line : 4;
      const int64_t distance = stack.access(static_cast<int64_t>(atom.first_line + line));
      if (distance == tests::MattsonStack::cold)
        distances.add_cold(sectors);
      else
        distances.add(distance, sectors);
    }
  }
  return histogram;
}

RC_GTEST_PROP(AnalyseTrace, VisitsInBothDirectionsEqualAStackOfLinesBinByBin, ()) {
  const Trace trace = tests::any_trace();
  const Prediction prediction = analysed(tests::text_of(TraceFormat::binary, trace), 128);
  RC_ASSERT(same_histogram(prediction.histogram, by_lines(trace)));
}

TEST(AnalyseTrace, TilesThatOverlapAreRefused) {
  try {
    analysed("line,lines\n0,4\n3,4\n", 128);
    FAIL() << "nothing was thrown";
  } catch (const TraceError& error) {
    EXPECT_STREQ(error.what(),
                 "the tiles at lines 0 and 3 share lines; such a trace must be given by lines");
  }
}

TEST(AnalyseTrace, MoreDistancesThanTheLimitAreRefused) {
  // A turned tile of n lines after one other line has the distances 1 to n.
  const auto turned = [](uint32_t lines) {
    return "line,lines,direction\n0," + std::to_string(lines) + ",\n90000,1,\n0," +
           std::to_string(lines) + ",backwards\n";
  };
  EXPECT_NO_THROW(analysed(turned(100), 128, {.atoms = 100}));
  EXPECT_THROW(analysed(turned(101), 128, {.atoms = 100}), TraceError);
}

TEST(AnalyseTrace, MoreLinesThanTheEngineWeighsAreATraceError) {
  std::string csv = "line,lines\n";
  for (uint64_t i = 0; i < 257; ++i) {  // x (2^24 - 1) lines are more than 2^32, of units of 1
    csv += std::to_string(i << 29) + "," + std::to_string((1 << 24) - 1) + "\n";
  }
  EXPECT_THROW(analysed(csv + "1,1\n", 128), TraceError);
  EXPECT_THROW(analysed(csv + "16777215,1\n", 128), TraceError);
}

}  // namespace
}  // namespace sawtooth::sim
