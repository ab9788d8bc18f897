// What a copy leaves in L2: of a buffer that a copy has just written, or read, how much do SMs then
// find there, and how much of it has been written back? copied_lines prints a CSV row a range: copy
// (device: within the GPU, in: from pinned host memory, out: to it), n_mib, range (copy, then read:
// every SM reads its share of what lies on the GPU), then counters in sectors. From a cold L2.
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "cupti/metric_table.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "kernels/common/device_buffer.hpp"
#include "kernels/stream/l2_state.hpp"
#include "kernels/stream/stream.hpp"

namespace {

using namespace sawtooth;
using namespace sawtooth::kernels;

constexpr int64_t mib = int64_t{1} << 20;
constexpr int64_t most_mib = 96;

constexpr cupti::L2Counter counters[] = {
    cupti::L2Counter::l2_read,   cupti::L2Counter::l2_read_miss,  cupti::L2Counter::l2_write,
    cupti::L2Counter::all_read,  cupti::L2Counter::all_read_miss, cupti::L2Counter::dram_read,
    cupti::L2Counter::dram_write};

/// Pinned, so that the copy engine reaches it.
class HostBuffer {
 public:
  explicit HostBuffer(size_t bytes) { SAWTOOTH_CUDA_CHECK(cudaMallocHost(&data_, bytes)); }
  ~HostBuffer() { cudaFreeHost(data_); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

void run() {
  cupti::RangeProfiler profiler;
  const std::vector<std::string> names = cupti::metrics_for(profiler.chip(), counters);
  const cupti::MetricPlan plan = profiler.plan(names);
  Streams streams;
  L2State l2;
  const DeviceBuffer here(most_mib * mib), there(most_mib * mib);
  const HostBuffer host(size_t(most_mib * mib));
  SAWTOOTH_CUDA_CHECK(cudaMemset(here.as(), 1, size_t(here.bytes())));
  SAWTOOTH_CUDA_CHECK(cudaMemset(there.as(), 1, size_t(there.bytes())));
  std::cout << "copy,n_mib,range";
  for (const cupti::L2Counter counter : counters) std::cout << ',' << cupti::column_of(counter);
  std::cout << '\n';
  const auto measure = [&](const char* copy, int64_t n_mib, const void* from, void* to,
                           void* read) {
    const auto bytes = size_t(n_mib * mib);
    const cupti::Reading reading = profiler.measure(
        plan, [&] { l2.flush(); },
        {{"copy",
          [=] { SAWTOOTH_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault)); }},
         {"read", [&] { streams.launch({}, read, n_mib * mib); }}});
    for (const cupti::RangeReading& range : reading.ranges) {
      std::cout << copy << ',' << n_mib << ',' << range.name;
      for (const std::string& name : names) std::cout << ',' << range.count(name).value();
      std::cout << '\n';
    }
    std::cout.flush();
  };
  for (const int64_t n_mib : {8, 16, 24, 32, 48, 64, 96}) {
    measure("in", n_mib, host.data(), here.as(), here.as());
    measure("out", n_mib, here.as(), host.data(), here.as());
    measure("device", n_mib, there.as(), here.as(), here.as());
    measure("device-source", n_mib, here.as(), there.as(), here.as());
  }
}

}  // namespace

int main() {
  try {
    run();
  } catch (const cupti::CounterError& error) {
    std::cerr << "copied_lines: " << error.what() << '\n';
    return 3;
  } catch (const std::exception& error) {
    std::cerr << "copied_lines: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
