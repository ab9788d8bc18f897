// What L2 does with reads whose order is known exactly: lockstep_reads FILE [FAMILY] writes one row
// a pattern and place of memory to FILE (docs/models/halves.md says what they show). Patterns that
// tell policies apart are read at four places, those near an edge at sixteen: tiles contiguous at
// every other place, in two regions far apart at the others. Distances are those of an H200, whose
// half holds 30 MiB. FAMILY leaves out all others. About 30 s on an H200; 16 GiB of its memory.
#include <algorithm>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "cupti/metric_table.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "kernels/common/event_pair.hpp"
#include "kernels/stream/l2_state.hpp"
#include "kernels/stream/lockstep.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t mib = int64_t{1} << 20;
constexpr int64_t page_mib = 2;
constexpr int64_t region_mib = 8192;
// Places begin so early in a region that the largest buffer fits behind them.
constexpr uint64_t first_pages = 3500;
constexpr uint64_t place_seed = 77;

constexpr int order_places = 4;
constexpr int edge_places = 16;

// A measurement costs about 0.16 s besides its launches, so several patterns share one.
constexpr size_t patterns_a_measurement = 16;

constexpr cupti::L2Counter counters[] = {
    cupti::L2Counter::dram_read, cupti::L2Counter::l2_read, cupti::L2Counter::l2_read_miss,
    cupti::L2Counter::fabric_read, cupti::L2Counter::fabric_read_miss};

struct Place {
  bool apart = false;
  int64_t first_mib = 0;
  int64_t second_mib = 0;  // apart
};

Place place_of(int repetition) {
  std::mt19937_64 random(place_seed + static_cast<uint64_t>(repetition));
  Place place{.apart = repetition % 2 == 1};
  place.first_mib = static_cast<int64_t>(random() % first_pages) * page_mib;
  place.second_mib = region_mib + static_cast<int64_t>(random() % first_pages) * page_mib;
  return place;
}

class Campaign {
 public:
  explicit Campaign(const std::string& path)
      : file_(path),
        reads_(sms_, map_l2_halves(sms_, l2_)),
        data_(2 * region_mib * mib),
        plan_(profiler_.plan(cupti::metrics_for(profiler_.chip(), counters))) {
    SAWTOOTH_CUDA_CHECK(cudaMemset(data_.as<>(), 0, static_cast<size_t>(data_.bytes())));
    std::ostream& out = file_.stream();
    out << "family,mib,lanes,readers,distance_mib,second_mib,across,seed,pace_us,access,ctas,"
           "place,first_offset_mib,second_offset_mib,repetition,steps,us";
    for (const cupti::L2Counter counter : counters) out << ',' << cupti::column_of(counter);
    out << '\n';
  }

  void run(const std::vector<LockstepPattern>& patterns, int places) {
    for (size_t i = 0; i < patterns.size(); i += patterns_a_measurement) {
      const size_t end = std::min(patterns.size(), i + patterns_a_measurement);
      run_some({patterns.begin() + static_cast<std::ptrdiff_t>(i),
                patterns.begin() + static_cast<std::ptrdiff_t>(end)},
               places);
    }
  }

  /// Half a table is none.
  void commit() { file_.commit(); }

 private:
  void run_some(const std::vector<LockstepPattern>& patterns, int places) {
    std::vector<DeviceBuffer> tables;
    std::vector<int64_t> steps;
    for (const LockstepPattern& pattern : patterns) {
      const LockstepOrder order = lockstep_order(pattern, reads_.per_half());
      tables.push_back(LockstepReads::upload(order));
      steps.push_back(order.steps());
    }
    for (int repetition = 0; repetition < places; ++repetition) {
      const Place place = place_of(repetition);
      const auto launch = [&](size_t i) {
        const char* const first = data_.as<char>() + place.first_mib * mib;
        reads_.launch(patterns[i], tables[i], steps[i],
                      place.apart
                          ? LockstepPlace::apart(first, data_.as<char>() + place.second_mib * mib)
                          : LockstepPlace::together(first));
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
      for (size_t i = 0; i < patterns.size(); ++i)
        write_row(patterns[i], place, repetition, steps[i], us[i], reading.ranges[2 * i + 1]);
      if (!file_.stream().flush()) throw std::runtime_error("the table could not be written");
    }
  }

  void write_row(const LockstepPattern& p, const Place& place, int repetition, int64_t steps,
                 double us, const cupti::RangeReading& range) {
    std::ostream& out = file_.stream();
    out << lockstep_family_names[static_cast<size_t>(p.family)] << ',' << p.mib << ',' << p.lanes
        << ',' << p.readers << ',' << p.distance_mib << ',' << p.second_mib << ','
        << (p.across ? "yes" : "no") << ',' << p.seed << ',' << p.pace_us << ','
        << lockstep_access_names[static_cast<size_t>(p.access)] << ',' << 2 * reads_.per_half()
        << ',' << (place.apart ? "apart" : "together") << ',' << place.first_mib << ','
        << (place.apart ? std::to_string(place.second_mib) : "") << ',' << repetition << ','
        << steps << ',' << us;
    for (const cupti::L2Counter counter : counters) {
      const cupti::MetricChoice choice = cupti::metric_for(profiler_.chip(), counter);
      out << ',';
      if (choice.available()) out << range.count(choice.metric).value();
    }
    out << '\n';
  }

  experiments::OutputFile file_;
  SmRanks sms_;
  L2State l2_;
  LockstepReads reads_;
  DeviceBuffer data_;
  cupti::RangeProfiler profiler_;
  cupti::MetricPlan plan_;
};

void measure(const std::string& path, std::optional<LockstepFamily> only) {
  const auto wanted = [&](std::vector<LockstepPattern> patterns) {
    if (only) std::erase_if(patterns, [&](const auto& p) { return p.family != *only; });
    return patterns;
  };
  Campaign campaign(path);
  campaign.run(wanted(lockstep_order_patterns()), order_places);
  campaign.run(wanted(lockstep_place_patterns()), edge_places);
  campaign.commit();
}

}  // namespace
}  // namespace sawtooth::kernels

int main(int argc, char** argv) {
  using namespace sawtooth;
  const auto family = argc == 3 ? kernels::lockstep_family_named(argv[2])
                                : std::optional<kernels::LockstepFamily>{};
  if (argc < 2 || argc > 3 || (argc == 3 && !family)) {
    std::cerr << "usage: lockstep_reads FILE [";
    for (const std::string_view name : kernels::lockstep_family_names)
      std::cerr << (name == kernels::lockstep_family_names[0] ? "" : "|") << name;
    std::cerr << "]\n";
    return 2;
  }
  try {
    kernels::measure(argv[1], family);
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
