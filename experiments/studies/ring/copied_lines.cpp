// What a copy leaves in L2: of a buffer that a copy has just written, or read, how much do SMs then
// find there, and how much of it has been written back? copied_lines [COPY...] prints a CSV row a
// range: copy, n_mib, range (copy, then read: every SM reads its share of what lies on the GPU),
// then counters of GPU 0 in sectors. From a cold L2. Copies, all if none is named:
//   in, out               from pinned host memory, and to it
//   device, device-source within the GPU; what it has written, and what it has read
//   peer-in               from GPU 1 by a stream of GPU 0, as a ring's K and V come
//   peer-in-held          the same into lines that L2 holds
//   peer-out              to GPU 1 by a stream of GPU 1, as they go
//   peer-store            SMs of GPU 1 write into memory of GPU 0
#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
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

/// Memory and a stream of GPU 1, where there is one; both GPUs see each other's memory.
class Peer {
 public:
  static bool exists() {
    int count = 0;
    SAWTOOTH_CUDA_CHECK(cudaGetDeviceCount(&count));
    return count > 1;
  }
  Peer() {
    SAWTOOTH_CUDA_CHECK(cudaDeviceEnablePeerAccess(1, 0));
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(1));
    SAWTOOTH_CUDA_CHECK(cudaDeviceEnablePeerAccess(0, 0));
    SAWTOOTH_CUDA_CHECK(cudaStreamCreate(&stream_));
    memory_ = DeviceBuffer(most_mib * mib);
    SAWTOOTH_CUDA_CHECK(cudaMemset(memory_.as(), 1, size_t(memory_.bytes())));
    streams_ = std::make_unique<Streams>();
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(0));
  }
  void* memory() const { return memory_.as(); }

  void send_to(void* to, size_t bytes) const {  // by GPU 0
    SAWTOOTH_CUDA_CHECK(cudaMemcpyPeerAsync(to, 0, memory_.as(), 1, bytes, nullptr));
  }
  void take_from(const void* from, size_t bytes) const {
    on_peer([&] {
      SAWTOOTH_CUDA_CHECK(cudaMemcpyPeerAsync(memory_.as(), 1, from, 0, bytes, stream_));
      SAWTOOTH_CUDA_CHECK(cudaStreamSynchronize(stream_));
    });
  }
  void store_to(void* to, int64_t bytes) {
    on_peer([&] {
      streams_->launch({.access = StreamAccess::write}, to, bytes);
      SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
    });
  }

 private:
  template <class Work>
  static void on_peer(Work work) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(1));
    work();
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(0));
  }
  DeviceBuffer memory_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<Streams> streams_;
};

/// One kind of copy of `bytes`; SMs of GPU 0 read `read` before it, where they do, and after it.
struct Copy {
  std::string name;
  std::function<void(size_t bytes)> run;
  void* read = nullptr;
  bool held = false;
};

void run(const std::vector<std::string>& asked) {
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(0));
  SAWTOOTH_CUDA_CHECK(cudaFree(nullptr));
  cupti::RangeProfiler profiler;
  const std::vector<std::string> names = cupti::metrics_for(profiler.chip(), counters);
  const cupti::MetricPlan plan = profiler.plan(names);
  Streams streams;
  L2State l2;
  const DeviceBuffer here(most_mib * mib), there(most_mib * mib);
  const HostBuffer host(size_t(most_mib * mib));
  SAWTOOTH_CUDA_CHECK(cudaMemset(here.as(), 1, size_t(here.bytes())));
  SAWTOOTH_CUDA_CHECK(cudaMemset(there.as(), 1, size_t(there.bytes())));
  const auto copy = [](void* to, const void* from) {
    return [=](size_t bytes) {
      SAWTOOTH_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault));
    };
  };
  void* const mine = here.as();
  std::vector<Copy> copies{{"in", copy(mine, host.data()), mine},
                           {"out", copy(host.data(), mine), mine},
                           {"device", copy(mine, there.as()), mine},
                           {"device-source", copy(there.as(), mine), mine}};
  std::optional<Peer> peer;
  if (Peer::exists()) {
    peer.emplace();
    const auto send = [&](size_t bytes) { peer->send_to(mine, bytes); };
    copies.push_back({"peer-in", send, mine});
    copies.push_back({"peer-in-held", send, mine, true});
    copies.push_back({"peer-out", [&](size_t bytes) { peer->take_from(mine, bytes); }, mine});
    copies.push_back({"peer-store", [&](size_t bytes) { peer->store_to(mine, bytes); }, mine});
  }
  std::cout << "copy,n_mib,range";
  for (const cupti::L2Counter counter : counters) std::cout << ',' << cupti::column_of(counter);
  std::cout << '\n';
  for (const int64_t n_mib : {8, 16, 24, 32, 48, 64, 96})
    for (const Copy& one : copies) {
      if (!asked.empty() && std::ranges::find(asked, one.name) == asked.end()) continue;
      const int64_t bytes = n_mib * mib;
      const auto read = [&] { streams.launch({}, one.read, bytes); };
      const cupti::Reading reading =
          profiler.measure(plan,
                           [&] {
                             l2.flush();
                             if (one.held) read();
                           },
                           {{"copy", [&] { one.run(size_t(bytes)); }}, {"read", read}});
      for (const cupti::RangeReading& range : reading.ranges) {
        std::cout << one.name << ',' << n_mib << ',' << range.name;
        for (const std::string& name : names) std::cout << ',' << range.count(name).value();
        std::cout << '\n';
      }
      std::cout.flush();
    }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv + 1, argv + argc});
  } catch (const cupti::CounterError& error) {
    std::cerr << "copied_lines: " << error.what() << '\n';
    return 3;
  } catch (const std::exception& error) {
    std::cerr << "copied_lines: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
