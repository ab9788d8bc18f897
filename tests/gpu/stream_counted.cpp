// The process of stream_once under our own profiler: the same allocations, launches and L2 state,
// so that nothing but the profiler differs. stream_counted MIB ACCESS SHAPE ORDER [together] prints
// range,metric,value with one line a counter (tests/gpu/stream_run.hpp): a range p1, p2 a launch,
// or with the last word one range p1 of both.
#include <algorithm>
#include <iostream>
#include <string_view>

#include "cupti/metric_table.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "kernels/stream/l2_state.hpp"
#include "tests/gpu/stream_run.hpp"

namespace sawtooth::kernels {
namespace {

constexpr cupti::L2Counter counters[] = {
    cupti::L2Counter::dram_read,        cupti::L2Counter::l2_read,
    cupti::L2Counter::l2_read_miss,     cupti::L2Counter::fabric_read,
    cupti::L2Counter::fabric_read_miss, cupti::L2Counter::sm_read};

void print_counts(const StreamRun& run, bool together) {
  Streams streams;
  L2State l2;
  const DeviceBuffer buffer(run.bytes);
  SAWTOOTH_CUDA_CHECK(cudaMemset(buffer.as<>(), 0, static_cast<size_t>(buffer.bytes())));
  cupti::RangeProfiler profiler;
  const std::vector<std::string> metrics = cupti::metrics_for(profiler.chip(), counters);
  std::vector<cupti::NamedLaunch> launches;
  const auto launch = [&](const StreamPass& pass) {
    streams.launch(pass, buffer.as<>(), buffer.bytes());
  };
  if (together) {
    launches.push_back({"p1", [&] { std::ranges::for_each(run.passes, launch); }});
  } else {
    for (const StreamPass& pass : run.passes) {
      launches.push_back({launches.empty() ? "p1" : "p2", [&] { launch(pass); }});
    }
  }
  const cupti::Reading reading = profiler.measure(
      profiler.plan(metrics), [&] { l2.flush(); }, launches);
  streams.sms().check_spread();
  std::cout << "range,metric,value\n";
  for (const cupti::RangeReading& range : reading.ranges) {
    for (const std::string& metric : metrics) {
      std::cout << range.name << ',' << metric << ',' << range.count(metric).value() << '\n';
    }
  }
}

}  // namespace
}  // namespace sawtooth::kernels

int main(int argc, char** argv) {
  using namespace sawtooth;
  const bool together = argc == 6 && std::string_view(argv[5]) == "together";
  if (argc != 5 && !together) {
    std::cerr << "usage: stream_counted " << kernels::stream_run_usage << " [together]\n";
    return 2;
  }
  try {
    kernels::print_counts(kernels::stream_run(argv[1], argv[2], argv[3], argv[4]), together);
    return 0;
  } catch (const cupti::CounterError& error) {
    std::cerr << "stream_counted: " << error.what() << '\n';
    return 3;
  } catch (const kernels::CudaError& error) {
    std::cerr << "stream_counted: " << error.what() << '\n';
    return error.no_device() ? 3 : 1;
  } catch (const std::exception& error) {
    std::cerr << "stream_counted: " << error.what() << '\n';
    return 1;
  }
}
