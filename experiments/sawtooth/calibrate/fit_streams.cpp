#include "experiments/sawtooth/calibrate/fit_streams.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <Eigen/Dense>

#include "experiments/sawtooth/calibrate/least_squares.hpp"
#include "experiments/sawtooth/calibrate/stream_readings.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using kernels::StreamAccess;

const std::array<std::string, 2> range_names{"p1", "p2"};

sim::Stream stream_of(const StreamPoint& point) {
  const sim::StreamMap map = point.shape == StreamShape::same    ? sim::StreamMap::same
                             : point.shape == StreamShape::shift ? sim::StreamMap::shift
                                                                 : sim::StreamMap::all;
  return {.map = map, .reversed = point.reversed, .bytes = point.mib << 20};
}

/// Simulates streams, each set of parameters that acts on one of them once.
class Simulator {
 public:
  const sim::StreamCounters& counters(const StreamFit& fit, const StreamPoint& point) {
    const bool all = point.shape == StreamShape::all;
    const sim::HalvesParameters l2 = l2_of(fit, point);
    const sim::StreamRun run = run_of(fit, point);
    const Key key{
        static_cast<int>(point.shape),
        point.reversed,
        point.mib,
        {l2.reserved, l2.far_first_waiting, l2.far_first_running, all ? 0 : run.steady_skew_bytes,
         all ? 0 : run.fresh_skew_bytes, point.shape == StreamShape::shift ? run.crossing : 0}};
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    return known_.emplace(key, sim::simulate_stream(stream_of(point), run, l2)).first->second;
  }

 private:
  using Key = std::tuple<int, bool, int64_t, std::array<double, 6>>;
  std::map<Key, sim::StreamCounters> known_;
};

StreamShares shares_of(const sim::Counters& counters, const StreamPoint& point) {
  const double sectors = double(point.mib) * mib_bytes / double(sector_bytes);
  const auto share = [&](const sim::Sectors& count) { return double(count.value_or(0)) / sectors; };
  return {share(counters.dram_read_sectors), share(counters.l2_read_miss_sectors),
          share(counters.fabric_read_sectors), share(counters.fabric_read_miss_sectors)};
}

// The model is the same whatever the readings: parameters and where to begin. Bounds are what the
// parameters can mean; steps are small changes of a curve.
std::vector<FreeParameter> free_parameters(bool tma) {
  std::vector<FreeParameter> parameters{{"reserved", 0.015, 0, 0.05, 0.004},
                                        {"ld_steady_skew_mib", 2, 0, 12, 0.4},
                                        {"ld_fresh_skew_mib", 1, 0, 12, 0.4}};
  if (tma) {
    parameters.push_back({"tma_steady_skew_mib", 2, 0, 12, 0.4});
    parameters.push_back({"tma_fresh_skew_mib", 1, 0, 12, 0.4});
  }
  return parameters;
}

void store_parameters(const std::vector<FreeParameter>& p, StreamFit& fit) {
  fit.l2.reserved = p[0].value;
  fit.ld.steady_skew_mib = p[1].value;
  fit.ld.fresh_skew_mib = p[2].value;
  fit.tma.steady_skew_mib = p.size() > 3 ? p[3].value : p[1].value;
  fit.tma.fresh_skew_mib = p.size() > 3 ? p[4].value : p[2].value;
}

/// Small `shift` streams miss near exactly for the lines that another half has read.
double crossing_of(const std::vector<StreamReading>& readings, int64_t l2_bytes) {
  double sum = 0;
  int count = 0;
  for (const StreamReading& r : readings) {
    const bool small = double(r.point.mib) * mib_bytes <= 0.4 * double(l2_bytes);
    if (r.point.shape != StreamShape::shift || !r.second_pass || !small) continue;
    sum += 2 * r.shares.fabric;  // half of the lines that change halves have a copy to go for
    ++count;
  }
  if (count == 0) throw std::invalid_argument("fit: no small `shift` streams in the readings");
  return sum / count;
}

/// Fabric misses and near misses of `all` are linear in who reaches a line first.
void fit_far_first(StreamFit& fit, StreamAccess access, const std::vector<StreamReading>& readings,
                   Simulator& simulator) {
  StreamKindFit& kind = access == StreamAccess::tma ? fit.tma : fit.ld;
  const auto modelled = [&](double waiting, double running, const StreamReading& r) {
    kind.far_first_waiting = waiting;
    kind.far_first_running = running;
    const sim::StreamCounters& both = simulator.counters(fit, r.point);
    return shares_of(r.second_pass ? both.second : both.first, r.point);
  };
  std::vector<Eigen::Vector3d> equations;
  for (const StreamReading& r : readings) {
    if (r.point.shape != StreamShape::all || r.point.access != access) continue;
    const StreamShares none = modelled(0, 0, r);
    const StreamShares waiting = modelled(1, 0, r);
    const StreamShares running = modelled(0, 1, r);
    equations.emplace_back(waiting.fabric_miss - none.fabric_miss,
                           running.fabric_miss - none.fabric_miss,
                           r.shares.fabric_miss - none.fabric_miss);
    equations.emplace_back(waiting.near - none.near, running.near - none.near,
                           r.shares.near - none.near);
  }
  if (equations.empty()) {
    kind.far_first_waiting = fit.ld.far_first_waiting;
    kind.far_first_running = fit.ld.far_first_running;
    return;
  }
  Eigen::MatrixX2d matrix(Eigen::Index(equations.size()), 2);
  Eigen::VectorXd right(Eigen::Index(equations.size()));
  for (size_t i = 0; i < equations.size(); ++i) {
    matrix.row(Eigen::Index(i)) = equations[i].head<2>();
    right[Eigen::Index(i)] = equations[i][2];
  }
  const Eigen::Vector2d f = matrix.colPivHouseholderQr().solve(right);
  kind.far_first_waiting = std::clamp(f[0], 0.0, 1.0);
  kind.far_first_running = std::clamp(f[1], 0.0, 1.0);
}

/// Share of requests that pass = waiting (1 - hits) + running hits, over the ld passes of `all`.
sim::CoalescerParameters fit_coalescer(const std::vector<StreamReading>& readings, int64_t sms) {
  Eigen::Matrix2d normal = Eigen::Matrix2d::Zero();
  Eigen::Vector2d right = Eigen::Vector2d::Zero();
  for (const StreamReading& r : readings) {
    if (r.point.shape != StreamShape::all || r.point.access != StreamAccess::ld) continue;
    if (!r.passed) continue;
    const double hits = std::clamp(1 - r.shares.dram, 0.0, 1.0);
    const Eigen::Vector2d row(1 - hits, hits);
    normal += row * row.transpose();
    right += row * *r.passed;
  }
  if (normal.determinant() == 0) return {};
  const Eigen::Vector2d shares = normal.ldlt().solve(right);
  return {.sms = sms,
          .waiting_share = std::clamp(shares[0], 0.01, 1.0),
          .running_share = std::clamp(shares[1], 0.01, 1.0)};
}

}  // namespace

sim::HalvesParameters l2_of(const StreamFit& fit, const StreamPoint& point) {
  sim::HalvesParameters l2 = fit.l2;
  const StreamKindFit& kind = point.access == StreamAccess::tma ? fit.tma : fit.ld;
  if (point.shape != StreamShape::all) return l2;
  l2.far_first_waiting = kind.far_first_waiting;
  l2.far_first_running = kind.far_first_running;
  return l2;
}

sim::StreamRun run_of(const StreamFit& fit, const StreamPoint& point) {
  const StreamKindFit& kind = point.access == StreamAccess::tma ? fit.tma : fit.ld;
  return {.sms = fit.coalescer.sms,
          .crossing = fit.crossing,
          .steady_skew_bytes = kind.steady_skew_mib * mib_bytes,
          .fresh_skew_bytes = kind.fresh_skew_mib * mib_bytes};
}

StreamFit fit_streams(const std::vector<StreamRow>& rows, int64_t l2_bytes, int64_t sms, int ways) {
  const std::vector<StreamReading> readings = stream_readings(rows);
  StreamFit fit;
  fit.l2.capacity_lines = l2_bytes / line_bytes / 2;
  fit.l2.ways = ways;
  fit.coalescer.sms = sms;
  fit.crossing = crossing_of(readings, l2_bytes);

  // Sizes far from the capacity say nothing: all hits, or all misses.
  std::vector<StreamReading> telling;
  bool tma = false;
  for (const StreamReading& r : readings) {
    const double share = double(r.point.mib) * mib_bytes / double(l2_bytes);
    const bool tells = share > 0.35 && share < (r.point.reversed ? 1.7 : 1.1);
    if (r.second_pass && tells) telling.push_back(r);
    tma = tma || r.point.access == StreamAccess::tma;
  }
  std::vector<FreeParameter> parameters = free_parameters(tma);
  const auto deviations = [&](const std::vector<FreeParameter>& tried) {
    Simulator simulator;
    store_parameters(tried, fit);
    std::vector<double> residuals;
    for (const StreamReading& r : telling) {
      if (r.point.shape == StreamShape::all) continue;  // they tell who comes first
      const StreamShares model = shares_of(simulator.counters(fit, r.point).second, r.point);
      const StreamShares allowed = stream_tolerances(r.point, l2_bytes);
      residuals.push_back((model.dram - r.shares.dram) / allowed.dram);
      residuals.push_back((model.fabric - r.shares.fabric) / allowed.fabric);
      residuals.push_back((model.near - r.shares.near) / allowed.near);
      residuals.push_back((model.fabric_miss - r.shares.fabric_miss) / allowed.fabric_miss);
    }
    return residuals;
  };
  constexpr int most_steps = 8;
  minimise(parameters, deviations, most_steps);
  store_parameters(parameters, fit);

  Simulator simulator;
  fit_far_first(fit, StreamAccess::ld, readings, simulator);
  fit_far_first(fit, StreamAccess::tma, readings, simulator);
  fit.l2.far_first_waiting = fit.ld.far_first_waiting;
  fit.l2.far_first_running = fit.ld.far_first_running;
  fit.coalescer = fit_coalescer(readings, sms);
  return fit;
}

std::vector<StreamRow> model_rows(const StreamFit& fit, const std::vector<StreamRow>& like) {
  using cupti::L2Counter;
  Simulator simulator;
  std::vector<StreamRow> rows;
  for (const StreamReading& r : stream_readings(like)) {
    const sim::StreamCounters& both = simulator.counters(fit, r.point);
    const sim::Counters& counters = r.second_pass ? both.second : both.first;
    StreamRow row;
    row.point = r.point;
    row.range = range_names[r.second_pass ? 1 : 0];
    row.buffer_sectors = (r.point.mib << 20) / sector_bytes;
    row.expected_sectors =
        row.buffer_sectors * (r.point.shape == StreamShape::all ? fit.coalescer.sms : 1);
    const auto set = [&](L2Counter counter, const sim::Sectors& count) {
      row.counts[static_cast<size_t>(counter)] = count;
    };
    set(L2Counter::dram_read, counters.dram_read_sectors);
    set(L2Counter::l2_read_miss, counters.l2_read_miss_sectors);
    set(L2Counter::fabric_read, counters.fabric_read_sectors);
    set(L2Counter::fabric_read_miss, counters.fabric_read_miss_sectors);
    rows.push_back(std::move(row));
  }
  return rows;
}

StreamJudgement judge_streams(const StreamFit& fit, const std::vector<StreamRow>& rows,
                              int64_t l2_bytes,
                              const std::function<bool(const StreamPoint&)>& chosen) {
  struct Counter {
    const char* name;
    double StreamShares::*share;
  };
  constexpr Counter counters[] = {{"DRAM reads", &StreamShares::dram},
                                  {"near misses", &StreamShares::near},
                                  {"fabric reads", &StreamShares::fabric},
                                  {"fabric misses", &StreamShares::fabric_miss}};
  Simulator simulator;
  StreamJudgement judgement;
  for (const StreamReading& r : stream_readings(rows)) {
    if (!r.second_pass || !chosen(r.point)) continue;
    const StreamShares model = shares_of(simulator.counters(fit, r.point).second, r.point);
    const StreamShares allowed = stream_tolerances(r.point, l2_bytes);
    ++judgement.points;
    const auto judge = [&](StreamJudgement::Count& count, bool forgive_scatter) {
      bool within = true;
      for (const auto& [name, share] : counters) {
        const double predicted = model.*share;
        const bool inside = predicted >= r.low.*share && predicted <= r.high.*share;
        const double measured = r.shares.*share;
        const double excess =
            forgive_scatter && inside ? 0 : std::abs(predicted - measured) / (allowed.*share);
        within = within && excess <= 1;
        if (excess <= count.worst_excess) continue;
        count.worst_excess = excess;
        char text[160];
        std::snprintf(text, sizeof text, "%s of %s: model %.3f, measured %.3f", name,
                      name_of(r.point).c_str(), predicted, measured);
        count.worst = text;
      }
      if (within) ++count.within;
    };
    judge(judgement.plain, false);
    judge(judgement.compared, true);
  }
  return judgement;
}

std::set<int64_t> fitted_sizes_mib(const std::vector<StreamRow>& rows) {
  std::set<int64_t> sizes;
  for (const StreamRow& row : rows) sizes.insert(row.point.mib);
  bool fitted = true;
  std::erase_if(sizes, [&](int64_t) { return std::exchange(fitted, !fitted); });
  return sizes;
}

}  // namespace sawtooth::experiments
