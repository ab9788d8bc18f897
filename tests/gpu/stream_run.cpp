// One stream on a buffer of its own, from a cold L2: two launches, or one that goes there and back.
// For tools that watch a process from outside (Nsight Compute, compute-sanitizer) the launches lie
// between cudaProfilerStart and Stop, the range of ncu --replay-mode app-range. With `counted` the
// same allocations, launches and L2 state run under our own profiler, which prints
// range,metric,value with one line a counter: a range p1, p2 a launch, or with `together` one range
// p1 of both.
#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_profiler_api.h>

#include "cupti/metric_table.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "kernels/stream/chase.hpp"
#include "kernels/stream/l2_state.hpp"
#include "kernels/stream/stream.hpp"

namespace sawtooth::kernels {
namespace {

constexpr char stream_run_usage[] =
    "MIB ld|tma|write same|shift|all|one linear|reversed|there-and-back [counted [together]]";

struct StreamRun {
  int64_t bytes = 0;
  bool one_sm = false;
  std::vector<StreamPass> passes;  // a launch each
};

/// Throws std::invalid_argument for a word that is not one of the above.
StreamRun stream_run(const std::string& mib, const std::string& access, const std::string& shape,
                     const std::string& order) {
  const auto require = [](bool good, const std::string& word) {
    if (!good) throw std::invalid_argument("'" + word + "' is not one of: " + stream_run_usage);
  };
  const auto among = [](const std::string& word, std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  require(among(access, {"ld", "tma", "write"}), access);
  require(among(shape, {"same", "shift", "all", "one"}), shape);
  require(among(order, {"linear", "reversed", "there-and-back"}), order);
  require(std::atoll(mib.c_str()) > 0, mib);

  StreamPass first;
  if (access == "tma") first.access = StreamAccess::tma;
  if (access == "write") first.access = StreamAccess::write;
  if (shape == "all") first.map = StreamMap::all;
  if (shape == "one") first.map = StreamMap::one;
  StreamRun run{std::atoll(mib.c_str()) << 20, shape == "one", {}};
  if (order == "there-and-back") {
    first.repeats = 2;
    first.there_and_back = true;
    run.passes = {first};
    return run;
  }
  StreamPass second = first;
  second.shift = shape == "shift" ? 1 : 0;
  second.reversed = order == "reversed";
  run.passes = {first, second};
  return run;
}

constexpr cupti::L2Counter counters[] = {
    cupti::L2Counter::dram_read,        cupti::L2Counter::l2_read,
    cupti::L2Counter::l2_read_miss,     cupti::L2Counter::fabric_read,
    cupti::L2Counter::fabric_read_miss, cupti::L2Counter::sm_read};

struct Device {
  Streams streams;
  L2State l2;
  DeviceBuffer buffer;

  explicit Device(int64_t bytes) : buffer(bytes) {
    SAWTOOTH_CUDA_CHECK(cudaMemset(buffer.as<>(), 0, static_cast<size_t>(bytes)));
  }
  void launch(const StreamPass& pass) { streams.launch(pass, buffer.as<>(), buffer.bytes()); }
};

void run_once(const StreamRun& run) {
  Device device(run.bytes);
  device.l2.flush();
  SAWTOOTH_CUDA_CHECK(cudaProfilerStart());
  for (const StreamPass& pass : run.passes) {
    device.launch(pass);
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  }
  SAWTOOTH_CUDA_CHECK(cudaProfilerStop());
  device.streams.sms().check_spread();
  if (run.one_sm) {
    Chase chase(device.streams.sms());
    chase.write_chain(device.buffer.as<>(), 64, 1);
    chase.run(0, device.buffer.as<>(), 64);
  }
}

void print_counts(const StreamRun& run, bool together) {
  Device device(run.bytes);
  cupti::RangeProfiler profiler;
  const std::vector<std::string> metrics = cupti::metrics_for(profiler.chip(), counters);
  std::vector<cupti::NamedLaunch> launches;
  const auto launch = [&](const StreamPass& pass) { device.launch(pass); };
  if (together) {
    launches.push_back({"p1", [&] { std::ranges::for_each(run.passes, launch); }});
  } else {
    for (const StreamPass& pass : run.passes)
      launches.push_back({launches.empty() ? "p1" : "p2", [&] { launch(pass); }});
  }
  const cupti::Reading reading = profiler.measure(
      profiler.plan(metrics), [&] { device.l2.flush(); }, launches);
  device.streams.sms().check_spread();
  std::cout << "range,metric,value\n";
  for (const cupti::RangeReading& range : reading.ranges)
    for (const std::string& metric : metrics)
      std::cout << range.name << ',' << metric << ',' << range.count(metric).value() << '\n';
}

int fail(const std::exception& error, int code) {
  std::cerr << "stream_run: " << error.what() << '\n';
  return code;
}

}  // namespace
}  // namespace sawtooth::kernels

int main(int argc, char** argv) {
  using namespace sawtooth;
  using kernels::fail;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool counted = words.size() > 4 && words[4] == "counted";
  const bool together = words.size() == 6 && counted && words[5] == "together";
  if (words.size() != size_t(4 + counted + together)) {
    std::cerr << "usage: stream_run " << kernels::stream_run_usage << '\n';
    return 2;
  }
  try {
    const kernels::StreamRun run = kernels::stream_run(words[0], words[1], words[2], words[3]);
    if (counted)
      kernels::print_counts(run, together);
    else
      kernels::run_once(run);
    return 0;
  } catch (const cupti::CounterError& error) {
    return fail(error, 3);
  } catch (const kernels::CudaError& error) {
    return fail(error, error.no_device() ? 3 : 1);
  } catch (const std::invalid_argument& error) {
    return fail(error, 2);
  } catch (const std::exception& error) {
    return fail(error, 1);
  }
}
