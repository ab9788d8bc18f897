// The edge of L2 in steps of 1 MiB, several passes on: which lines stay when a buffer is a little
// too large, and does that depend on how often it is read, on who reads it, on the launches between
// or on the physical pages? stream_edge FILE REPETITION appends one line a range: buffer (plain or
// of scattered pages), kind, map, order, n_mib, offset_mib in the allocation, repeats in the
// launch, repetition, range, near misses, fabric misses and DRAM reads in sectors. About 25 s on an
// H200.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda.h>

#include "cupti/metric_table.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "kernels/stream/l2_state.hpp"
#include "kernels/stream/stream.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t mib = int64_t{1} << 20;

// One replay pass: totals would need another. Fabric reads follow from the identity.
constexpr cupti::L2Counter counters[] = {cupti::L2Counter::l2_read_miss,
                                         cupti::L2Counter::fabric_read_miss,
                                         cupti::L2Counter::dram_read};

void check_driver(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  throw std::runtime_error(std::string(what) + ": CUDA driver error " + std::to_string(result));
}

/// A buffer whose physical pages are every fifth of many, shuffled.
class ScatteredBuffer {
 public:
  explicit ScatteredBuffer(int64_t bytes, unsigned seed) {
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    size_t page = 0;
    check_driver(cuMemGetAllocationGranularity(&page, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                 "granularity");
    const size_t pages = (static_cast<size_t>(bytes) + page - 1) / page;
    std::vector<CUmemGenericAllocationHandle> handles(pages * 5);
    for (auto& handle : handles) check_driver(cuMemCreate(&handle, page, &prop, 0), "create");
    std::mt19937 random(seed);
    std::shuffle(handles.begin(), handles.end(), random);
    check_driver(cuMemAddressReserve(&data_, pages * page, 0, 0, 0), "reserve");
    for (size_t i = 0; i < pages; ++i) {
      check_driver(cuMemMap(data_ + i * page, page, 0, handles[i], 0), "map");
    }
    for (auto& handle : handles) check_driver(cuMemRelease(handle), "release");
    CUmemAccessDesc access{prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    check_driver(cuMemSetAccess(data_, pages * page, &access, 1), "access");
    std::cerr << "pages of " << page << " bytes\n";
  }
  void* data() const { return reinterpret_cast<void*>(data_); }

 private:
  CUdeviceptr data_ = 0;  // until the process ends
};

class Edge {
 public:
  Edge(const char* path, int repetition)
      : out_(path, std::ios::app),
        repetition_(repetition),
        plain_(160 * mib),
        other_(128 * mib, 7) {
    SAWTOOTH_CUDA_CHECK(cudaMemset(plain_.as<>(), 0, static_cast<size_t>(plain_.bytes())));
    SAWTOOTH_CUDA_CHECK(cudaMemset(other_.data(), 0, 128 * mib));
    plan_.emplace(profiler_.plan(cupti::metrics_for(profiler_.chip(), counters)));
  }

  /// `passes` launches, each of `repeats` passes; order linear or alternating.
  void run(const char* buffer, StreamPass pass, int64_t n_mib, int passes, bool alternating,
           int64_t offset_mib = 0) {
    char* const data =
        static_cast<char*>(*buffer == 's' ? other_.data() : plain_.as<>()) + offset_mib * mib;
    std::vector<cupti::NamedLaunch> launches;
    for (int i = 0; i < passes; ++i) {
      StreamPass now = pass;
      now.reversed = alternating && i % 2 == 1;
      now.there_and_back = alternating;
      std::string name = "p";
      name += std::to_string(i + 1);
      launches.push_back(
          {std::move(name), [this, now, data, n_mib] { streams_.launch(now, data, n_mib * mib); }});
    }
    const cupti::Reading reading = profiler_.measure(
        *plan_, [this] { l2_.flush(); }, launches);
    streams_.sms().check_spread();
    const auto names = cupti::metrics_for(profiler_.chip(), counters);
    for (const cupti::RangeReading& range : reading.ranges) {
      out_ << buffer << ',' << stream_access_names[static_cast<size_t>(pass.access)] << ','
           << (pass.map == StreamMap::all   ? "all"
               : pass.map == StreamMap::one ? "one"
                                            : "same")
           << ',' << (alternating ? "alternating" : "linear") << ',' << n_mib << ',' << offset_mib
           << ',' << pass.repeats << ',' << repetition_ << ',' << range.name;
      for (const std::string& name : names) out_ << ',' << range.count(name).value();
      out_ << '\n';
    }
    out_.flush();
  }

  void all() {
    const StreamPass all{.map = StreamMap::all};
    const StreamPass one{.map = StreamMap::one};
    run("plain", all, 8, 2, false);  // warm-up
    for (const bool alternating : {false, true}) {
      for (int64_t n = 24; n <= 40; ++n) run("plain", all, n, 6, alternating);
      for (int64_t n = 26; n <= 36; n += 2) run("scattered", all, n, 4, alternating);
      for (int64_t n = 26; n <= 40; n += 2) run("plain", one, n, 4, alternating);
      for (int64_t n = 48; n <= 80; n += 4) run("plain", one, n, 4, alternating);
      for (int64_t n = 28; n <= 60; n += 4) run("plain", {}, n, 6, alternating);
      for (int64_t n = 28; n <= 36; n += 2) {
        run("plain", {.access = StreamAccess::tma, .map = StreamMap::all}, n, 4, alternating);
        for (int repeats = 2; repeats <= 3; ++repeats) {
          StreamPass often = all;
          often.repeats = repeats;
          run("plain", often, n, 1, alternating);
        }
      }
    }
    for (const int64_t offset : {1, 2, 31, 64, 96}) run("plain", all, 32, 3, false, offset);
  }

 private:
  std::ofstream out_;
  int repetition_;
  Streams streams_;
  L2State l2_;
  DeviceBuffer plain_;
  ScatteredBuffer other_;
  cupti::RangeProfiler profiler_;
  std::optional<cupti::MetricPlan> plan_;
};

}  // namespace
}  // namespace sawtooth::kernels

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: stream_edge FILE REPETITION\n";
    return 2;
  }
  try {
    sawtooth::kernels::Edge(argv[1], std::atoi(argv[2])).all();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "stream_edge: " << error.what() << '\n';
    return 1;
  }
}
