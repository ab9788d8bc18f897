// What a ring's later steps do on one GPU, against launches that begin the sums or have none:
// second_steps FOLDER. Each mode runs two or three launches of kernels/hopper over the same rows of
// Q, one behind the other; FOLDER/later_steps.csv gets their counters, in every replay pass, and
// FOLDER/later_items.csv when each item of the launches that add begins.
#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

#include "cupti/metric_table.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/common/device_buffer.hpp"
#include "kernels/stream/l2_state.hpp"
#include "scheduler/integer_math.hpp"

namespace {

using namespace sawtooth;
using namespace sawtooth::kernels;

constexpr int64_t kib = 1024, heads = 8, sms = 132;

struct Shape {
  const char* tile;
  const char* name;
  int64_t head_dim, q_rows, kv_rows;
  Tiling tiling;
  LaunchId launch;
  ScanId scan;
};

const Shape shapes[] = {{"d64-128x128",
                         "152K-static",
                         64,
                         152 * kib,
                         152 * kib,
                         {128, 128},
                         launch_id<StaticLaunch>,
                         scan_id<ReverseScan>},
                        {"d64-128x128",
                         "90K-180K-dynamic",
                         64,
                         90 * kib,
                         180 * kib,
                         {128, 128},
                         launch_id<DynamicLaunch>,
                         scan_id<ReverseScan>},
                        {"d64-128x128",
                         "96K-dynamic",
                         64,
                         96 * kib,
                         96 * kib,
                         {128, 128},
                         launch_id<DynamicLaunch>,
                         scan_id<LinearScan>},
                        {"d64-128x128",
                         "64K-static",
                         64,
                         64 * kib,
                         64 * kib,
                         {128, 128},
                         launch_id<StaticLaunch>,
                         scan_id<LinearScan>},
                        {"d64-192x128",
                         "152K-static",
                         64,
                         152 * kib,
                         152 * kib,
                         {192, 128},
                         launch_id<StaticLaunch>,
                         scan_id<ReverseScan>},
                        {"d64-192x128",
                         "64K-static",
                         64,
                         64 * kib,
                         64 * kib,
                         {192, 128},
                         launch_id<StaticLaunch>,
                         scan_id<LinearScan>},
                        {"d128-128x128",
                         "64K-static",
                         128,
                         64 * kib,
                         64 * kib,
                         {128, 128},
                         launch_id<StaticLaunch>,
                         scan_id<LinearScan>},
                        {"d128-128x176",
                         "64K-static",
                         128,
                         64 * kib,
                         64 * kib,
                         {128, 176},
                         launch_id<StaticLaunch>,
                         scan_id<LinearScan>},
                        {"d128-128x176",
                         "96K-dynamic",
                         128,
                         96 * kib,
                         96 * kib,
                         {128, 176},
                         launch_id<DynamicLaunch>,
                         scan_id<ReverseScan>}};

/// Launches of a mode: p has no sums, b begins them, a adds to them, f adds and writes O.
struct Mode {
  const char* name;
  std::string launches;
  std::array<int, 3> keys;  // which K and V each has
  int pause_ms = 0;
};

const Mode modes[] = {{"ring", "bff", {0, 1, 0}},        {"plain", "pp", {0, 1, 0}},
                      {"no-o", "ba", {0, 1, 0}},         {"same-buffer", "bf", {0, 0, 0}},
                      {"paused", "bf", {0, 1, 0}, 1000}, {"adds-first", "fb", {0, 1, 0}}};

constexpr cupti::L2Counter counters[] = {cupti::L2Counter::l2_read, cupti::L2Counter::l2_read_miss,
                                         cupti::L2Counter::fabric_read,
                                         cupti::L2Counter::fabric_read_miss};
constexpr cupti::L2Counter witnesses[] = {cupti::L2Counter::dram_read, cupti::L2Counter::dram_write,
                                          cupti::L2Counter::duration_ns};

void require(const Outcome& outcome) {
  if (!outcome) throw std::runtime_error(outcome.message);
}

/// Values of random sign and fraction with magnitudes of 1/4 to 2, as bf16.
DeviceBuffer filled(int64_t elements) {
  static uint64_t state = 88172645463325252ULL;
  std::vector<uint16_t> values(size_t{1} << 22);
  for (uint16_t& value : values) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const auto bits = uint16_t(state >> 20);
    value = uint16_t((bits & 0x807f) | ((125 + (bits >> 7) % 3) << 7));
  }
  DeviceBuffer buffer(elements * int64_t(sizeof(uint16_t)));
  for (int64_t at = 0; at < elements; at += std::ssize(values))
    SAWTOOTH_CUDA_CHECK(
        cudaMemcpy(buffer.as<uint16_t>() + at, values.data(),
                   sizeof(uint16_t) * size_t(min_of(std::ssize(values), elements - at)),
                   cudaMemcpyHostToDevice));
  return buffer;
}

/// The tensors of a shape, and its launches.
class Launches {
 public:
  explicit Launches(const Shape& shape)
      : q_(filled(heads * shape.q_rows * shape.head_dim)),
        o_(q_.bytes()),
        sums_(2 * q_.bytes()),
        lse_(heads * shape.q_rows * int64_t(sizeof(float))),
        workspace_(int64_t{64} << 20),
        items_(heads * ceil_div(shape.q_rows, shape.tiling.q_rows) * int64_t(sizeof(ItemRecord))) {
    for (auto& tensors : kv_)
      for (DeviceBuffer& tensor : tensors) tensor = filled(heads * shape.kv_rows * shape.head_dim);
    SAWTOOTH_CUDA_CHECK(cudaMemset(workspace_.as(), 0, size_t(workspace_.bytes())));
    call_.problem.heads = call_.problem.kv_heads = heads;
    call_.problem.seq_q = shape.q_rows;
    call_.problem.seq_kv = shape.kv_rows;
    call_.problem.head_dim = shape.head_dim;
    call_.family = "hopper";
    call_.tiling = shape.tiling;
    call_.schedule = {};
    call_.schedule.launch = shape.launch;
    call_.schedule.scan = shape.scan;
    call_.schedule.workers = sms;
    call_.q = q_.as();
    call_.workspace_starts_zero = true;
  }

  void run(char kind, int keys, bool traced) {
    AttentionForward call = call_;
    call.k = kv_[size_t(keys)][0].as();
    call.v = kv_[size_t(keys)][1].as();
    if (kind != 'p') call.running = {sums_.as<float>(), lse_.as<float>(), 0, kind == 'b'};
    if (kind == 'p' || kind == 'f') call.o = o_.as();
    if (traced) {
      SAWTOOTH_CUDA_CHECK(cudaMemsetAsync(items_.as(), 0, size_t(items_.bytes())));
      call.trace.items = items_.as<ItemRecord>();
    }
    require(attention_forward(call, workspace_.as(), size_t(workspace_.bytes()), nullptr));
  }

  std::vector<ItemRecord> items() const {
    std::vector<ItemRecord> items(size_t(items_.bytes()) / sizeof(ItemRecord));
    SAWTOOTH_CUDA_CHECK(
        cudaMemcpy(items.data(), items_.as(), size_t(items_.bytes()), cudaMemcpyDeviceToHost));
    return items;
  }

 private:
  DeviceBuffer q_, o_, sums_, lse_, workspace_, items_;
  DeviceBuffer kv_[2][2];
  AttentionForward call_;
};

void pause(int ms) {
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

void count(const Shape& shape, const Mode& mode, Launches& launches, L2State& l2,
           cupti::RangeProfiler& profiler, const cupti::MetricPlan& plan, std::ostream& csv) {
  std::vector<cupti::NamedLaunch> ranges{{"prepare", [&] { l2.flush(); }}};
  for (size_t i = 0; i < mode.launches.size(); ++i)
    ranges.push_back({std::to_string(i), [&, i] {
                        if (i > 0) pause(mode.pause_ms);
                        launches.run(mode.launches[i], mode.keys[i], false);
                      }});
  const cupti::Reading reading = profiler.measure(
      plan, [] {}, ranges);
  for (size_t i = 1; i < reading.ranges.size(); ++i)
    for (const cupti::MetricValue& value : reading.ranges[i].values)
      csv << shape.tile << ',' << shape.name << ',' << mode.name << ',' << reading.ranges[i].name
          << ',' << value.metric << ',' << value.replay_pass << ',' << int64_t(value.value)
          << std::endl;
}

void trace(const Shape& shape, const Mode& mode, Launches& launches, L2State& l2,
           std::ostream& csv) {
  l2.flush();
  for (size_t i = 0; i < mode.launches.size(); ++i) {
    const char kind = mode.launches[i];
    const bool adds = kind == 'a' || kind == 'f';
    if (i > 0) pause(mode.pause_ms);
    launches.run(kind, mode.keys[i], adds);
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
    if (!adds) continue;
    const std::vector<ItemRecord> items = launches.items();
    uint64_t first = std::numeric_limits<uint64_t>::max();
    for (const ItemRecord& item : items) first = std::min(first, item.start_ns);
    for (const ItemRecord& item : items)
      csv << shape.tile << ',' << shape.name << ',' << mode.name << ',' << i << ',' << (kind == 'f')
          << ',' << item.worker << ',' << item.start_ns - first << '\n';
  }
}

void run(const std::string& folder) {
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(0));
  SAWTOOTH_CUDA_CHECK(cudaFree(nullptr));
  cupti::RangeProfiler profiler;
  const cupti::MetricPlan plan =
      profiler.plan(cupti::metrics_for(profiler.chip(), counters),
                    cupti::metrics_for(profiler.chip(), witnesses), cupti::BadMetrics::drop);
  std::ofstream steps(folder + "/later_steps.csv"), items(folder + "/later_items.csv");
  steps << "tile,problem,mode,launch,metric,replay_pass,value\n";
  items << "tile,problem,mode,launch,finishes,worker,start_ns\n";
  L2State l2;
  for (const Shape& shape : shapes) {
    Launches launches(shape);
    launches.run('b', 0, false);
    for (const Mode& mode : modes) {
      count(shape, mode, launches, l2, profiler, plan, steps);
      trace(shape, mode, launches, l2, items);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: second_steps FOLDER\n";
    return 2;
  }
  try {
    run(argv[1]);
  } catch (const cupti::CounterError& error) {
    std::cerr << "second_steps: " << error.what() << '\n';
    return 3;
  } catch (const std::exception& error) {
    std::cerr << "second_steps: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
