#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "cupti/status.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/measure/measure_points.hpp"
#include "experiments/sawtooth/results/predicted_point.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/ring/ring_problem.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "kernels/common/cuda_check.hpp"
#include "kernels/common/event_pair.hpp"
#include "kernels/stream/l2_state.hpp"

namespace sawtooth::experiments {
namespace {

constexpr const char* default_rounds = "5";
constexpr double us_a_ms = 1000;

/// The points of one ring: the whole, and parts of it.
struct RingPoints {
  std::vector<const MeasurePoint*> rows;
  const Point& point() const { return rows.front()->point; }
};

std::vector<RingPoints> rings_of(const MeasurePlan& plan) {
  std::vector<RingPoints> rings;
  std::map<std::string, size_t> known;
  for (const MeasurePoint& point : plan.points) {
    if (!point.point.refusal.empty()) continue;
    const auto [at, is_new] = known.try_emplace(ring_name(point.key_cells), rings.size());
    if (is_new) rings.emplace_back();
    rings[at->second].rows.push_back(&point);
  }
  return rings;
}

void refuse_points(const MeasurePlan& plan) {
  for (const MeasurePoint& point : plan.points) {
    if (!point.point.refusal.empty()) continue;
    if (!point.point.ring)
      throw UsageError("ring: not given; allowed: --ring N, GPUs of this host");
    if (point.point.keys.state == L2Content::warm)
      throw UsageError("state: a ring knows cold and as-is");
    if (point.point.keys.dtype == ElementType::fp32)
      throw UsageError("dtype: a ring's results are checked in bf16 and fp16");
  }
}

std::vector<int> devices_of(const Settings& outputs, int64_t ranks) {
  const std::string given = value_or(outputs, "devices", "");
  std::vector<int> devices;
  if (given.empty()) {
    for (int device = 0; device < ranks; ++device) devices.push_back(device);
    return devices;
  }
  try {
    for (const std::string& text : split_list(given)) devices.push_back(int(parse_count(text)));
  } catch (const std::logic_error&) {
    devices.clear();
  }
  if (int64_t(devices.size()) != ranks)
    throw UsageError("--devices: '" + given + "' is not allowed; allowed: " +
                     std::to_string(ranks) + " numbers of CUDA devices, comma-separated");
  return devices;
}

/// Whether all of `devices` are there; else says so.
bool has_devices(const std::vector<int>& devices) {
  int count = 0;
  SAWTOOTH_CUDA_CHECK(cudaGetDeviceCount(&count));
  const int most = *std::ranges::max_element(devices);
  if (most < count) return true;
  std::cerr << "sawtooth ring: needs " << most + 1 << " GPUs, this host has " << count
            << "; --devices 0,0 lets ranks share one, to check results and counters\n";
  return false;
}

int dry_run(const std::vector<RingPoints>& rings) {
  for (const RingPoints& of_ring : rings) {
    const Ring& ring = *of_ring.point().ring;
    const Problem& problem = of_ring.point().request.problem;
    const int64_t bytes =
        2 * problem.batch * problem.kv_heads * ring.rank_rows() * problem.row_bytes();
    std::cout << "ring of " << ring.ranks << ", " << of_ring.point().text("ring-order") << ", seq "
              << ring.seq << ", head_dim " << problem.head_dim << ", "
              << of_ring.point().text("mask") << ": " << bytes
              << " bytes of K and V a step and GPU by " << of_ring.point().text("ring-mover")
              << (problem.pass == Pass::backward ? ", up to as many of dK and dV back" : "")
              << "\n";
    for (int64_t rank = 0; rank < ring.ranks; ++rank)
      for (int64_t step = 0; step < ring.ranks; ++step) {
        RingCall call;
        std::cout << "  rank " << rank << " step " << step << ": ";
        if (!ring.call_of(rank, step, call)) {
          std::cout << "nothing, no row sees keys of rank " << ring.source(rank, step) << "\n";
          continue;
        }
        std::cout << "rows " << call.q_rows.begin << " to " << call.q_rows.end - 1 << " meet keys "
                  << call.kv_rows.begin << " to " << call.kv_rows.end - 1 << " of rank "
                  << ring.source(rank, step)
                  << (call.mask == MaskKind::causal ? ", causal" : ", all of them") << "\n";
      }
  }
  return exit_fine;
}

/// One round: the plain call on the first GPU, and the ring, ms.
struct RingRound {
  double one_gpu = 0;
  kernels::RingTimes ring;
};

/// A problem on one GPU, and as a ring over several, with the same random inputs.
class RingRun {
 public:
  /// As ring_problem().
  RingRun(const Point& point, const std::vector<int>& devices, bool chooses)
      : point_(point), devices_(devices), problem_(ring_problem(point, devices, chooses)) {
    for (const int device : devices) {
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
      l2_.try_emplace(device);
    }
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices.front()));
  }

  /// Launches everything once, so that no round pays for it.
  void warm_up() {
    problem_->run_whole();
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
    problem_->ring().run();
  }

  RingRound round() {
    RingRound round;
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices_.front()));
    kernels::EventPair events;
    flush();
    l2_.at(devices_.front()).hold();
    round.one_gpu = events.time_us([&] { problem_->run_whole(); }) / us_a_ms;
    flush();
    round.ring = problem_->ring().run(true);
    return round;
  }

  /// By (rank, step): counters of the calls, those of devices one after another. What runs on other
  /// devices in a step runs beside the first call of a device.
  using CellsByCall = std::map<std::pair<int64_t, int64_t>, MeasuredCells>;
  CellsByCall count() {
    CellsByCall all;
    const int64_t ranks = point_.ring->ranks;
    for (auto& [device, l2] : l2_) {
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
      SAWTOOTH_CUDA_CHECK(cudaFree(nullptr));  // its context is current then
      LaunchCounters counters(point_.request.problem.pass);
      std::vector<int> here, elsewhere;
      for (int rank = 0; rank < ranks; ++rank)
        (devices_[size_t(rank)] == device ? here : elsewhere).push_back(rank);
      std::vector<cupti::NamedLaunch> launches{{"prepare", [&, device = device] {
                                                  flush();
                                                  SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
                                                }}};
      std::vector<std::pair<int64_t, int64_t>> calls;
      for (int64_t step = 0; step < ranks; ++step)
        for (const int rank : here) {
          std::vector<int> together{rank};
          if (rank == here.front())
            together.insert(together.end(), elsewhere.begin(), elsewhere.end());
          calls.emplace_back(rank, step);
          launches.push_back({std::to_string(rank) + " " + std::to_string(step),
                              [this, step, ranks, together, device = device] {
                                problem_->ring().run_step(step, together);
                                if (step + 1 == ranks) problem_->ring().finish(together);
                                SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
                              }});
        }
      MeasuredCells failed;
      counters.read(
          [&](cupti::RangeProfiler& profiler, const cupti::MetricPlan& plan) {
            const cupti::Reading reading = profiler.measure(
                plan, [] {}, launches);
            for (size_t i = 0; i < calls.size(); ++i)
              counters.fill(reading.ranges[i + 1], reading.replay_passes, all[calls[i]]);
          },
          failed);
      if (failed.status != "ok")
        for (const auto& call : calls) all[call] = failed;
    }
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices_.front()));
    return all;
  }

  RingProblemOnDevices& problem() const { return *problem_; }

 private:
  void flush() {
    if (point_.keys.state == L2Content::as_is) return;
    for (auto& [device, l2] : l2_) {
      SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
      l2.flush();
    }
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(devices_.front()));
  }

  Point point_;
  std::vector<int> devices_;
  std::map<int, kernels::L2State> l2_;  // by device
  std::unique_ptr<RingProblemOnDevices> problem_;
};

/// Adds what was counted in a part of a row.
void add(MeasuredCells& cells, const MeasuredCells& part) {
  if (part.status != "ok") {
    cells.status = part.status;
    cells.message = part.message;
    return;
  }
  cells.replay_passes = part.replay_passes;
  cells.profiled_time_us += part.profiled_time_us;
  cells.message = part.message;
  if (cells.counts.empty()) {
    cells.counts = part.counts;
    return;
  }
  for (size_t i = 0; i < part.counts.size(); ++i) cells.counts[i].second += part.counts[i].second;
}

double flop_of(const Point& point, const RingCall& call) {
  Problem problem = point.request.problem;
  problem.seq_q = call.q_rows.size();
  problem.seq_kv = call.kv_rows.size();
  problem.mask = {call.mask, 0};
  return attention_flop(problem, point.request.tiling);
}

/// Sums and longest times of the calls that a row is about.
CsvRow row_of_ring(const MeasurePoint& measured, int64_t repetition, const RingRound& round,
                   const RingRun::CellsByCall* counted) {
  const Keys& keys = measured.point.keys;
  const Ring& ring = *measured.point.ring;
  const Range ranks = ring_parts(keys.ring_rank, ring.ranks);
  const Range steps = ring_parts(keys.ring_step, ring.ranks);
  MeasuredCells cells;
  double longest_ms = 0, longest_transfer_ms = 0, longest_exposed_ms = 0, flop = 0;
  for (int64_t rank = ranks.begin; rank < ranks.end; ++rank) {
    double time_ms = 0, transfer_ms = 0, exposed_ms = 0;
    for (int64_t step = steps.begin; step < steps.end; ++step) {
      time_ms += round.ring.compute[size_t(rank)][size_t(step)];
      transfer_ms += round.ring.transfer[size_t(rank)][size_t(step)];
      exposed_ms += round.ring.exposed[size_t(rank)][size_t(step)];
      RingCall call;
      if (ring.call_of(rank, step, call)) flop += flop_of(measured.point, call);
      if (counted != nullptr) add(cells, counted->at({rank, step}));
    }
    if (!keys.ring_step) time_ms += exposed_ms;
    longest_ms = std::max(longest_ms, time_ms);
    longest_transfer_ms = std::max(longest_transfer_ms, transfer_ms);
    longest_exposed_ms = std::max(longest_exposed_ms, exposed_ms);
  }
  const bool is_whole = !keys.ring_rank && !keys.ring_step;
  cells.time_us = (is_whole ? round.ring.whole : longest_ms) * us_a_ms;
  constexpr double flop_per_us_of_a_teraflop = 1e6;
  CsvRow row = measured_row(measured, repetition, cells);
  if (cells.time_us > 0)
    row[result_column("tflops")] = fixed(flop / cells.time_us / flop_per_us_of_a_teraflop, 2);
  row[result_column("transfer_us")] = fixed(longest_transfer_ms * us_a_ms, 2);
  row[result_column("exposed_us")] = fixed(longest_exposed_ms * us_a_ms, 2);
  if (is_whole)
    row[result_column("of_ideal")] =
        fixed(round.one_gpu / (double(ring.ranks) * round.ring.whole), 4);
  return row;
}

/// The point with the kernel and the schedule that ran it.
MeasurePoint as_run(const RingRun& run, const MeasurePoint& asked, const MeasurePlan& plan) {
  const Keys& keys = asked.point.keys;
  auto [point, family] = run.problem().as_run(keys.ring_rank, keys.ring_step);
  point.keys.ring_rank = keys.ring_rank;
  point.keys.ring_step = keys.ring_step;
  MeasurePoint made{std::move(point), {}};
  made.key_cells = measured_key_cells(made.point, plan.experiment);
  made.key_cells[result_column("kernel")] = family;
  return made;
}

int measure(const MeasurePlan& plan, const std::vector<RingPoints>& rings) {
  const int64_t rounds = std::stoll(value_or(plan.outputs, "repetitions", default_rounds));
  const bool counts = value_or(plan.outputs, "counted", "on") == "on";
  for (const RingPoints& ring : rings)
    if (!has_devices(devices_of(plan.outputs, ring.point().ring->ranks))) return exit_no_device;
  ResultLog log(csv_path(plan.outputs), old_rows(plan.outputs), key_column_count + 1);
  if (for_people(plan.outputs)) log.remember_rows();
  log.start();
  bool differs = false;
  std::string no_counters;
  for (const RingPoints& of_ring : rings) {
    RingRun run(of_ring.point(), devices_of(plan.outputs, of_ring.point().ring->ranks),
                is_on(plan.outputs, "automatic"));
    run.warm_up();
    if (is_on(plan.outputs, "check")) {
      const RingCheck check = run.problem().check();
      differs = differs || !check.is_small;
      std::cerr << "check: ring of " << of_ring.point().ring->ranks << ", seq "
                << of_ring.point().ring->seq << ": " << check.text
                << (check.is_small ? "" : ": WRONG") << "\n";
    }
    for (int64_t repetition = 0; repetition < rounds; ++repetition) {
      const RingRound round = run.round();
      std::optional<RingRun::CellsByCall> counted;
      if (counts) counted = run.count();
      for (const MeasurePoint* const asked : of_ring.rows) {
        const MeasurePoint point = as_run(run, *asked, plan);
        log.append(row_of_ring(point, repetition, round, counted ? &*counted : nullptr));
      }
      if (!counted) continue;
      for (const auto& [call, cells] : *counted)
        if (cells.status != "ok") no_counters = cells.message;
    }
  }
  log.finish();
  if (for_people(plan.outputs)) std::cout << short_table(log.sweep_rows());
  if (!no_counters.empty()) std::cerr << "note: " << no_counters << "\n";
  if (differs) return exit_check_failed;
  return no_counters.empty() ? exit_fine : exit_no_device;
}

}  // namespace

int run_ring(const Command& command, const Arguments& arguments) {
  const MeasurePlan plan = measure_plan(command, arguments);
  refuse_points(plan);
  const std::vector<RingPoints> rings = rings_of(plan);
  const Failures refused = refusals_of(plan);
  refused.print();
  int code = exit_fine;
  if (is_on(plan.outputs, "dry-run")) {
    code = dry_run(rings);
  } else {
    try {
      code = measure(plan, rings);
    } catch (const kernels::CudaError& error) {
      std::cerr << "sawtooth ring: " << error.what() << "\n";
      return error.no_device() ? exit_no_device : exit_check_failed;
    } catch (const UsageError&) {
      throw;
    } catch (const std::runtime_error& error) {  // a launch, or what moves K and V
      std::cerr << "sawtooth ring: " << error.what() << "\n";
      return exit_check_failed;
    }
  }
  return code == exit_fine && !refused.empty() ? exit_check_failed : code;
}

}  // namespace sawtooth::experiments
