#include "experiments/sawtooth/calibrate/fit_streams.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <Eigen/Dense>

#include "experiments/sawtooth/calibrate/least_squares.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using cupti::L2Counter;
using kernels::StreamAccess;

enum Share : size_t { dram, near, fabric, fabric_miss };
constexpr std::array share_counters{L2Counter::dram_read, L2Counter::l2_read_miss,
                                    L2Counter::fabric_read, L2Counter::fabric_read_miss};
constexpr std::array<const char*, 4> share_names{"DRAM reads", "near misses", "fabric reads",
                                                 "fabric misses"};

/// The share `of` of `repetitions` is below the value.
StreamShares quantiles(const Repetitions& repetitions, double of) {
  StreamShares made;
  for (size_t i = 0; i < made.size(); ++i) {
    std::vector<double> shares;
    for (const StreamRow* row : repetitions) {
      const auto count = row->count(share_counters[i]);
      if (!count)
        throw std::invalid_argument(name_of(row->point) + " has no " +
                                    std::string(cupti::column_of(share_counters[i])) +
                                    "; two halves need near misses, fabric reads and misses, DRAM");
      shares.push_back(row->share(*count));
    }
    made[i] = quantile_of(std::move(shares), of);
  }
  return made;
}

std::optional<double> passed_share(const Repetitions& repetitions) {
  std::vector<double> shares;
  for (const StreamRow* row : repetitions) {
    const auto l2 = row->count(L2Counter::l2_read);
    if (!l2 || row->expected_sectors == 0) return std::nullopt;
    shares.push_back(double(*l2) / double(row->expected_sectors));
  }
  return median_of(std::move(shares));
}

constexpr auto numbers = std::to_array<FitNumber>({
    {"reserved", "1",
     "fitted to streams; lines of a half that no reader's line ever holds; lowers what a reversed "
     "pass keeps",
     [](StreamFit& f) -> double& { return f.l2.reserved; }, "l2-reserved-share", 0.015, 0, 0.05,
     0.004},
    {"far_first_waiting", "1",
     "least squares on `all` streams by loads; lines that both halves want and the far half's "
     "request reaches first while all wait; splits near misses from fabric misses",
     [](StreamFit& f) -> double& { return f.ld.far_first_waiting; }, "far-first-waiting-share"},
    {"far_first_running", "1", "the same while all hit",
     [](StreamFit& f) -> double& { return f.ld.far_first_running; }, "far-first-running-share"},
    {"coalescer_waiting", "1",
     "least squares on `all` streams by loads; requests that pass the coalescer when all SMs wait "
     "for the same misses; scales the sectors that reach L2",
     [](StreamFit& f) -> double& { return f.coalescer.waiting_share; }, "coalescer-waiting-share"},
    {"coalescer_running", "1", "the same when all hit",
     [](StreamFit& f) -> double& { return f.coalescer.running_share; }, "coalescer-running-share"},
    {"crossing", "1", "near misses of small `shift` streams; lines that change halves there",
     [](StreamFit& f) -> double& { return f.crossing; }},
    {"ld_steady_skew", "MiB", "fitted; how far SMs are apart in both passes, loads",
     [](StreamFit& f) -> double& { return f.ld.steady_skew_mib; }, "", 2, 0, 12, 0.4},
    {"ld_fresh_skew", "MiB", "fitted; how far SMs are apart anew in each pass, loads",
     [](StreamFit& f) -> double& { return f.ld.fresh_skew_mib; }, "", 1, 0, 12, 0.4},
    {"tma_steady_skew", "MiB", "the same of bulk copies",
     [](StreamFit& f) -> double& { return f.tma.steady_skew_mib; }, "", 2, 0, 12, 0.4},
    {"tma_fresh_skew", "MiB", "the same of bulk copies",
     [](StreamFit& f) -> double& { return f.tma.fresh_skew_mib; }, "", 1, 0, 12, 0.4},
    {"tma_far_first_waiting", "1", "as far_first_waiting, bulk copies",
     [](StreamFit& f) -> double& { return f.tma.far_first_waiting; }},
    {"tma_far_first_running", "1", "as far_first_running, bulk copies",
     [](StreamFit& f) -> double& { return f.tma.far_first_running; }},
});

const StreamKindFit& kind_of(const StreamFit& fit, const StreamPoint& point) {
  return point.access == StreamAccess::tma ? fit.tma : fit.ld;
}

/// Simulates streams, each set of parameters that acts on one of them once.
class Simulator {
 public:
  StreamShares shares(const StreamFit& fit, const StreamReading& reading) {
    const sim::Counters& counted = counters(fit, reading);
    const double sectors = double(reading.point.mib) * mib_bytes / double(sector_bytes);
    const auto share = [&](const sim::Sectors& count) {
      return double(count.value_or(0)) / sectors;
    };
    return {share(counted.dram_read_sectors), share(counted.l2_read_miss_sectors),
            share(counted.fabric_read_sectors), share(counted.fabric_read_miss_sectors)};
  }

  const sim::Counters& counters(const StreamFit& fit, const StreamReading& reading) {
    const StreamPoint& point = reading.point;
    const bool all = point.shape == StreamShape::all;
    const StreamKindFit& kind = kind_of(fit, point);
    sim::HalvesParameters l2 = fit.l2;
    if (all) {
      l2.far_first_waiting = kind.far_first_waiting;
      l2.far_first_running = kind.far_first_running;
    }
    const sim::StreamRun run{.sms = fit.coalescer.sms,
                             .crossing = fit.crossing,
                             .steady_skew_bytes = kind.steady_skew_mib * mib_bytes,
                             .fresh_skew_bytes = kind.fresh_skew_mib * mib_bytes};
    const sim::StreamMap map = point.shape == StreamShape::same    ? sim::StreamMap::same
                               : point.shape == StreamShape::shift ? sim::StreamMap::shift
                                                                   : sim::StreamMap::all;
    const Key key{
        static_cast<int>(map),
        point.reversed,
        point.mib,
        {l2.reserved, l2.far_first_waiting, l2.far_first_running, all ? 0 : run.steady_skew_bytes,
         all ? 0 : run.fresh_skew_bytes, point.shape == StreamShape::shift ? run.crossing : 0}};
    auto known = known_.find(key);
    if (known == known_.end()) {
      const sim::Stream stream{.map = map, .reversed = point.reversed, .bytes = point.mib << 20};
      known = known_.emplace(key, sim::simulate_stream(stream, run, l2)).first;
    }
    return reading.second_pass ? known->second.second : known->second.first;
  }

 private:
  using Key = std::tuple<int, bool, int64_t, std::array<double, 6>>;
  std::map<Key, sim::StreamCounters> known_;
};

/// Small `shift` streams miss near exactly for the lines that another half has read.
double crossing_of(const std::vector<StreamReading>& readings, int64_t l2_bytes) {
  constexpr double small_share = 0.4;
  double sum = 0;
  int count = 0;
  for (const StreamReading& r : readings) {
    const bool small = r.point.share_of(l2_bytes) <= small_share;
    if (r.point.shape != StreamShape::shift || !r.second_pass || !small) continue;
    sum += 2 * r.shares[fabric];  // half of the lines that change halves have a copy to go for
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
    return simulator.shares(fit, r);
  };
  std::vector<Eigen::Vector3d> equations;
  for (const StreamReading& r : readings) {
    if (r.point.shape != StreamShape::all || r.point.access != access) continue;
    const StreamShares none = modelled(0, 0, r), waiting = modelled(1, 0, r),
                       running = modelled(0, 1, r);
    for (const Share of : {fabric_miss, near})
      equations.emplace_back(waiting[of] - none[of], running[of] - none[of],
                             r.shares[of] - none[of]);
  }
  if (equations.empty()) {
    kind.far_first_waiting = fit.ld.far_first_waiting;
    kind.far_first_running = fit.ld.far_first_running;
    return;
  }
  const Eigen::Map<const Eigen::Matrix3Xd> all(equations.front().data(), 3,
                                               Eigen::Index(equations.size()));
  const Eigen::MatrixX2d matrix = all.topRows<2>().transpose();
  const Eigen::VectorXd right = all.row(2).transpose();
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
    const double hits = std::clamp(1 - r.shares[dram], 0.0, 1.0);
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

/// Searches for the numbers that do not act linearly; without bulk copies theirs are those of
/// loads.
void search(StreamFit& fit, const std::vector<StreamReading>& readings, int64_t l2_bytes) {
  std::vector<const StreamReading*> telling;
  bool tma = false;
  for (const StreamReading& r : readings) {
    tma = tma || r.point.access == StreamAccess::tma;
    // Sizes far from the capacity say nothing: all hits, or all misses. `all` tells who comes
    // first.
    const double share = r.point.share_of(l2_bytes);
    const bool tells = share > 0.35 && share < (r.point.reversed ? 1.7 : 1.1);
    if (r.second_pass && tells && r.point.shape != StreamShape::all) telling.push_back(&r);
  }
  std::vector<FreeParameter> free;
  for (const FitNumber& n : numbers)
    if (n.step > 0 && (tma || !n.name.starts_with("tma_")))
      free.push_back({std::string(n.name), n.start, n.low, n.high, n.step});
  const auto store = [&](const std::vector<FreeParameter>& found) {
    auto next = found.begin();
    for (const FitNumber& n : numbers)
      if (next != found.end() && next->name == n.name) n.in(fit) = (next++)->value;
    if (tma) return;
    fit.tma.steady_skew_mib = fit.ld.steady_skew_mib;
    fit.tma.fresh_skew_mib = fit.ld.fresh_skew_mib;
  };
  const auto deviations = [&](const std::vector<FreeParameter>& tried) {
    Simulator simulator;
    store(tried);
    std::vector<double> residuals;
    for (const StreamReading* r : telling) {
      const StreamShares model = simulator.shares(fit, *r);
      const StreamShares allowed = stream_tolerances(r->point, l2_bytes);
      for (const Share of : {dram, fabric, near, fabric_miss})
        residuals.push_back((model[of] - r->shares[of]) / allowed[of]);
    }
    return residuals;
  };
  constexpr int most_steps = 8;
  minimise(free, deviations, most_steps);
  store(free);
}

}  // namespace

std::vector<StreamReading> stream_readings(const std::vector<StreamRow>& rows) {
  constexpr double low_share = 0.05, high_share = 0.95;
  std::vector<StreamReading> readings;
  for (const Repetitions& repetitions : repetitions_of(rows)) {
    const StreamRow& row = *repetitions.front();
    if (!row.reads() || row.point.shape == StreamShape::one) continue;
    readings.push_back({row.point, row.range == "p2", quantiles(repetitions, median_share),
                        quantiles(repetitions, low_share), quantiles(repetitions, high_share),
                        passed_share(repetitions)});
  }
  return readings;
}

StreamShares stream_tolerances(const StreamPoint& point, int64_t l2_bytes) {
  return {on_cliff(point, l2_bytes) ? 0.06 : 0.02, 0.03, 0.03, 0.03};
}

StreamFit StreamFit::of(int64_t l2_bytes, int64_t sms, int ways) {
  StreamFit fit;
  fit.l2.capacity_lines = l2_bytes / line_bytes / 2;
  fit.l2.ways = ways;
  fit.coalescer.sms = sms;
  return fit;
}

StreamFit fit_streams(const std::vector<StreamRow>& rows, int64_t l2_bytes, int64_t sms, int ways) {
  const std::vector<StreamReading> readings = stream_readings(rows);
  StreamFit fit = StreamFit::of(l2_bytes, sms, ways);
  fit.crossing = crossing_of(readings, l2_bytes);
  search(fit, readings, l2_bytes);
  Simulator simulator;
  fit_far_first(fit, StreamAccess::ld, readings, simulator);
  fit_far_first(fit, StreamAccess::tma, readings, simulator);
  fit.l2.far_first_waiting = fit.ld.far_first_waiting;
  fit.l2.far_first_running = fit.ld.far_first_running;
  fit.coalescer = fit_coalescer(readings, sms);
  return fit;
}

std::vector<StreamRow> model_rows(const StreamFit& fit, const std::vector<StreamRow>& like) {
  Simulator simulator;
  std::vector<StreamRow> rows;
  for (const StreamReading& r : stream_readings(like)) {
    const sim::Counters& counters = simulator.counters(fit, r);
    StreamRow& row = rows.emplace_back();
    row.point = r.point;
    row.range = r.second_pass ? "p2" : "p1";
    row.buffer_sectors = (r.point.mib << 20) / sector_bytes;
    row.expected_sectors =
        row.buffer_sectors * (r.point.shape == StreamShape::all ? fit.coalescer.sms : 1);
    row.count(L2Counter::dram_read) = counters.dram_read_sectors;
    row.count(L2Counter::l2_read_miss) = counters.l2_read_miss_sectors;
    row.count(L2Counter::fabric_read) = counters.fabric_read_sectors;
    row.count(L2Counter::fabric_read_miss) = counters.fabric_read_miss_sectors;
  }
  return rows;
}

StreamJudgement judge_streams(const StreamFit& fit, const std::vector<StreamRow>& rows,
                              int64_t l2_bytes,
                              const std::function<bool(const StreamPoint&)>& chosen) {
  Simulator simulator;
  StreamJudgement judgement;
  for (const StreamReading& r : stream_readings(rows)) {
    if (!r.second_pass || !chosen(r.point)) continue;
    const StreamShares model = simulator.shares(fit, r);
    const StreamShares allowed = stream_tolerances(r.point, l2_bytes);
    ++judgement.points;
    bool within = true;
    for (size_t i = 0; i < model.size(); ++i) {
      const bool inside = model[i] >= r.low[i] && model[i] <= r.high[i];
      const double excess = inside ? 0 : std::abs(model[i] - r.shares[i]) / allowed[i];
      within = within && excess <= 1;
      if (excess <= judgement.worst_excess) continue;
      judgement.worst_excess = excess;
      char text[160];
      std::snprintf(text, sizeof text, "%s of %s: model %.3f, measured %.3f", share_names[i],
                    name_of(r.point).c_str(), model[i], r.shares[i]);
      judgement.worst = text;
    }
    judgement.within += within;
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

std::span<const FitNumber> fit_numbers() {
  return numbers;
}

std::vector<Figure> fit_figures(const StreamFit& fit) {
  StreamFit copy = fit;
  std::vector<Figure> figures{{"ways", double(fit.l2.ways), "1",
                               "assumed: hashed sets hide their ways; a set keeps that many "
                               "lines"}};
  for (const FitNumber& number : numbers)
    figures.push_back({std::string(number.name), number.in(copy), std::string(number.unit),
                       std::string(number.how)});
  return figures;
}

std::string fit_profile_ini(const StreamFit& fit, const std::string& from) {
  StreamFit copy = fit;
  std::ostringstream text;
  for (const FitNumber& number : numbers)
    if (!number.profile_key.empty())
      text << number.profile_key << " = " << number.in(copy) << "; measured; " << number.how << " ("
           << from << ")\n";
  return text.str();
}

}  // namespace sawtooth::experiments
