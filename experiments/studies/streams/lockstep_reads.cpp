// What L2 does with reads whose order is known exactly: lockstep_reads FILE [FAMILY] writes one row
// a pattern and place of memory to FILE (docs/models/halves.md says what they show). Patterns are
// those of the recorded table: such as tell policies apart at four places, those near an edge at
// sixteen; tiles contiguous at every other place, in two regions far apart at the others. Distances
// are those of an H200, whose half holds 30 MiB. FAMILY leaves out all others. About 30 s on an
// H200; 16 GiB of its memory.
#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/metric_table.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "experiments/studies/streams/lockstep_table.hpp"
#include "kernels/common/event_pair.hpp"
#include "kernels/stream/l2_state.hpp"
#include "kernels/stream/lockstep.hpp"

namespace sawtooth::experiments {
namespace {

using kernels::LockstepPattern;

constexpr const char* patterns_table =
    SAWTOOTH_EXPERIMENTS_DIR "/data/h200/streams/lockstep_reads.csv";

constexpr int64_t mib = int64_t{1} << 20;
constexpr int64_t page_mib = 2;
constexpr int64_t region_mib = 8192;
// Places begin so early in a region that the largest buffer fits behind them.
constexpr uint64_t first_pages = 3500;
constexpr uint64_t place_seed = 77;

// A measurement costs about 0.16 s besides its launches, so several patterns share one.
constexpr size_t patterns_a_measurement = 16;

/// What a place has of a row.
LockstepRow place_of(int64_t repetition) {
  std::mt19937_64 random(place_seed + static_cast<uint64_t>(repetition));
  LockstepRow place;
  place.repetition = repetition;
  place.apart = repetition % 2 == 1;
  place.first_offset_mib = static_cast<int64_t>(random() % first_pages) * page_mib;
  if (place.apart)
    place.second_offset_mib = region_mib + static_cast<int64_t>(random() % first_pages) * page_mib;
  return place;
}

class Campaign {
 public:
  explicit Campaign(const std::string& path)
      : file_(path),
        reads_(sms_, kernels::map_l2_halves(sms_, l2_)),
        data_(2 * region_mib * mib),
        plan_(profiler_.plan(cupti::metrics_for(profiler_.chip(), lockstep_counters))) {
    SAWTOOTH_CUDA_CHECK(cudaMemset(data_.as<>(), 0, static_cast<size_t>(data_.bytes())));
  }

  void run(const std::vector<LockstepPattern>& patterns, int64_t places) {
    for (size_t i = 0; i < patterns.size(); i += patterns_a_measurement) {
      const size_t end = std::min(patterns.size(), i + patterns_a_measurement);
      run_some({patterns.begin() + static_cast<std::ptrdiff_t>(i),
                patterns.begin() + static_cast<std::ptrdiff_t>(end)},
               places);
    }
  }

  /// Half a table is none.
  void commit() {
    file_.write(typed_csv(rows_, lockstep_columns()));
    file_.commit();
  }

 private:
  void run_some(const std::vector<LockstepPattern>& patterns, int64_t places) {
    std::vector<kernels::DeviceBuffer> tables;
    std::vector<int64_t> steps;
    for (const LockstepPattern& pattern : patterns) {
      const kernels::LockstepOrder order = kernels::lockstep_order(pattern, reads_.per_half());
      tables.push_back(kernels::LockstepReads::upload(order));
      steps.push_back(order.steps());
    }
    for (int64_t repetition = 0; repetition < places; ++repetition) {
      const LockstepRow place = place_of(repetition);
      const auto launch = [&](size_t i) {
        const char* const first = data_.as<char>() + place.first_offset_mib * mib;
        reads_.launch(patterns[i], tables[i], steps[i],
                      place.apart ? kernels::LockstepPlace::apart(
                                        first, data_.as<char>() + *place.second_offset_mib * mib)
                                  : kernels::LockstepPlace::together(first));
      };
      std::vector<double> us;
      std::vector<cupti::NamedLaunch> launches;
      for (size_t i = 0; i < patterns.size(); ++i) {
        l2_.flush();
        us.push_back(kernels::EventPair().time_us([&] { launch(i); }));
        const std::string number = std::to_string(i);
        launches.push_back({"flush" + number, [this] { l2_.flush(); }});
        launches.push_back({"read" + number, [&launch, i] { launch(i); }});
      }
      const cupti::Reading reading = profiler_.measure(
          plan_, [] {}, launches);
      reads_.check();
      for (size_t i = 0; i < patterns.size(); ++i) {
        LockstepRow& row = rows_.emplace_back(place);
        row.pattern = patterns[i];
        row.pattern.steps = steps[i];
        row.ctas = 2 * reads_.per_half();
        row.us = us[i];
        read_sectors(reading.ranges[2 * i + 1], row);
      }
    }
  }

  void read_sectors(const cupti::RangeReading& range, LockstepRow& row) {
    for (size_t i = 0; i < lockstep_counters.size(); ++i) {
      const cupti::MetricChoice choice = cupti::metric_for(profiler_.chip(), lockstep_counters[i]);
      if (choice.available()) row.sectors[i] = range.count(choice.metric).value();
    }
  }

  OutputFile file_;
  std::vector<LockstepRow> rows_;
  kernels::SmRanks sms_;
  kernels::L2State l2_;
  kernels::LockstepReads reads_;
  kernels::DeviceBuffer data_;
  cupti::RangeProfiler profiler_;
  cupti::MetricPlan plan_;
};

/// The patterns of a table, each at as many places as it has there.
void measure(const std::string& path, std::string_view only) {
  const std::vector<LockstepRow> rows = typed_rows(read_csv(patterns_table), lockstep_columns());
  std::map<int64_t, std::vector<LockstepPattern>> patterns;
  for (const LockstepRow& row : rows) {
    const std::string_view family = kernels::lockstep_family_names[size_t(row.pattern.family)];
    if (row.repetition == 0 && (only.empty() || family == only))
      patterns[std::ranges::count(rows, row.pattern, &LockstepRow::pattern)].push_back(row.pattern);
  }
  Campaign campaign(path);
  for (const auto& [places, of_places] : patterns) campaign.run(of_places, places);
  campaign.commit();
}

}  // namespace
}  // namespace sawtooth::experiments

int main(int argc, char** argv) {
  using namespace sawtooth;
  const std::string_view family = argc == 3 ? argv[2] : "";
  const auto& families = kernels::lockstep_family_names;
  if (argc < 2 || argc > 3 || (argc == 3 && std::ranges::count(families, family) == 0)) {
    std::cerr << "usage: lockstep_reads FILE [";
    for (const std::string_view name : families)
      std::cerr << (name == families[0] ? "" : "|") << name;
    std::cerr << "]\n";
    return 2;
  }
  try {
    experiments::measure(argv[1], family);
    return 0;
  } catch (const cupti::CounterError& error) {
    std::cerr << "lockstep_reads: " << error.what() << '\n';
    return 3;
  } catch (const kernels::CudaError& error) {
    std::cerr << "lockstep_reads: " << error.what() << '\n';
    return error.no_device() ? 3 : 1;
  } catch (const experiments::UsageError& error) {
    std::cerr << "lockstep_reads: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "lockstep_reads: " << error.what() << '\n';
    return 1;
  }
}
