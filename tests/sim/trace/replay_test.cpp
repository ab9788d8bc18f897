// Sets and Belady's optimum on traces: as on the schedules behind them, and as lines say.
#include <gmock/gmock.h>

#include "sim/belady/simulate_opt.hpp"
#include "sim/sets/simulate_sets.hpp"
#include "sim/trace/analyse.hpp"
#include "tests/support/line_sets.hpp"
#include "tests/support/property.hpp"
#include "tests/support/same_predictions.hpp"
#include "tests/support/traces.hpp"

namespace sawtooth::sim {
namespace {

using tests::between;
using tests::same_counters;
using tests::schedule_text;
using tests::Trace;

// A trace that can be opened again and again.
class Text {
 public:
  explicit Text(const std::string& text) : in_(text) {}
  std::unique_ptr<TraceReader> open() {
    in_.clear();
    in_.seekg(0);
    return open_trace(in_, "t", {});
  }

 private:
  std::istringstream in_;
};

Prediction on_sets(const std::string& trace, int64_t l2_bytes, const SetsParameters& sets) {
  Text text(trace);
  return replay_on_sets(
      *text.open(), [&] { return text.open(); }, l2_bytes, sets);
}

Prediction by_optimum(const std::string& trace, int64_t l2_bytes) {
  return replay_by_optimum(*Text(trace).open(), l2_bytes);
}

Request any_request_with_prefetch() {
  Request request = tests::any_request();
  request.schedule.prefetch = between(0, 3);
  return request;
}

SetsParameters any_sets(Request& request) {
  SetsParameters sets;
  request.l2_bytes = tests::draw_sets(sets, 5);
  if (sets.policy != SetPolicy::opt) tests::draw_priorities(sets);
  return sets;
}

// More heads than keep their numbers, of tiles that sets split in many ways; a trace numbers all.
TEST(ReplayOnSets, ManyHeadsThatComeAndGoAreAsInATraceOfAll) {
  Request request;
  request.problem = {.seq_q = 40, .seq_kv = 40};
  request.problem.heads = request.problem.kv_heads = 5000;
  request.problem.mask.kind = MaskKind::causal;
  request.tiling = {16, 16};
  request.schedule.workers = 7;
  request.schedule.launch = launch_id<DynamicLaunch>;
  request.l2_bytes = 37 * 8 * 128;
  request.sets.ways = 8;
  const std::string trace = schedule_text(request, TraceFormat::binary, false);
  for (const PolicyName& policy : set_policies) {
    SCOPED_TRACE(policy.name);
    request.sets.policy = policy.policy;
    request.sets.priorities[static_cast<size_t>(Tensor::k)] =
        policy.policy == SetPolicy::plru ? Priority::evict_last : Priority::normal;
    const Prediction schedule = simulate_sets(request);
    const Prediction all = on_sets(trace, request.l2_bytes, request.sets);
    EXPECT_EQ(schedule.method, all.method);
    EXPECT_EQ(schedule.tile_visits, all.tile_visits);
    EXPECT_TRUE(same_counters(schedule, all));
  }
}

RC_GTEST_PROP(ReplayTrace, ASchedulesTraceOnSetsCountsAsTheScheduleDoes, ()) {
  Request request = any_request_with_prefetch();
  request.sets = any_sets(request);
  const bool by_lines = between(0, 1) == 1;
  const std::string trace = schedule_text(request, TraceFormat::binary, by_lines);
  RC_ASSERT(same_counters(on_sets(trace, request.l2_bytes, request.sets), simulate_sets(request)));
}

RC_GTEST_PROP(ReplayTrace, ASchedulesTraceUnderTheOptimumCountsAsTheScheduleDoes, ()) {
  const Request request = any_request_with_prefetch();
  RC_PRE(request.l2_bytes >= 128);  // a line
  const bool by_lines = between(0, 1) == 1;
  const std::string trace = schedule_text(request, TraceFormat::binary, by_lines);
  RC_ASSERT(same_counters(by_optimum(trace, request.l2_bytes), simulate_opt(request)));
}

// Line by line through a cache that is written from its definition.
RC_GTEST_PROP(ReplayTrace, AnyTraceForwardsOnSetsMissesWhatItsLinesMiss, ()) {
  Request request;
  const SetsParameters sets = any_sets(request);
  RC_PRE(sets.policy != SetPolicy::opt);
  Trace trace = tests::any_trace();
  for (TraceVisit& visit : trace.visits) visit.backwards = false;
  const SetGeometry geometry = set_geometry(request.l2_bytes, sets);
  const SetHash hash(sets, geometry.sets);
  tests::NaiveSets cache(static_cast<size_t>(geometry.ways),
                         static_cast<size_t>(geometry.persisting_ways), sets.policy, sets.seed);
  int64_t missed = 0;
  for (const TraceVisit& visit : trace.visits) {
    const TraceAtom& atom = trace.atoms[visit.atom];
    for (uint32_t touch = 0; touch < visit.times * atom.lines; ++touch) {
      const uint32_t at = touch % atom.lines;
      const uint64_t line = atom.first_line + at;
      const Priority priority = sets.priorities[static_cast<size_t>(atom.tensor)];
      if (cache.access(line, hash.set_of(line), priority)) continue;
      missed += at + 1 < atom.lines ? 4 : atom.sectors - 4 * (atom.lines - 1);
    }
  }
  const Counters total =
      on_sets(tests::text_of(TraceFormat::binary, trace), request.l2_bytes, sets).total;
  RC_ASSERT(total.l2_read_miss_sectors.value_or(0) + total.l2_write_miss_sectors.value_or(0) ==
            missed);
}

TEST(ReplayTrace, ATraceWithoutVisitsMissesNothing) {
  const std::string empty = tests::text_of(TraceFormat::binary, {});
  EXPECT_EQ(by_optimum(empty, 256).total.l2_read_miss_sectors, 0);
  for (const PolicyName& policy : set_policies) {
    SetsParameters sets;
    sets.policy = policy.policy;
    EXPECT_EQ(on_sets(empty, 4096, sets).total.l2_read_miss_sectors, 0) << policy.name;
  }
}

TEST(ReplayTrace, ARunThatIsVisitedBackwardsIsRefusedUnlessItIsALine) {
  const std::string run = "line,lines,direction\n8,4,backwards\n";
  const auto message = [](auto replayed) {
    try {
      replayed();
    } catch (const TraceError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const char* wanted = "the 4 lines from line 8 on are visited backwards";
  EXPECT_THAT(message([&] { by_optimum(run, 256); }), testing::HasSubstr(wanted));
  EXPECT_THAT(message([&] { on_sets(run, 4096, {}); }), testing::HasSubstr(wanted));
  const std::string line = "line,direction\n8,backwards\n";
  EXPECT_EQ(by_optimum(line, 256).total.l2_read_miss_sectors, 4);
}

}  // namespace
}  // namespace sawtooth::sim
