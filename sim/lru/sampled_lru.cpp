#include "sim/lru/sampled_lru.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "scheduler/permutation.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/lru/stack_distance.hpp"
#include "sim/schedule/live_atoms.hpp"
#include "sim/schedule/merged_visits.hpp"

namespace sawtooth::sim {
namespace {

constexpr size_t groups = 16;               // of tiles, for the jackknife
constexpr double normal_quantile = 1.960;   // 97.5 %
constexpr double student_quantile = 2.131;  // 97.5 % with groups - 1 degrees of freedom
constexpr double rounding = 1e-3;           // of sums of shares, in sectors
constexpr size_t least_tiles = 2 * groups;  // that must be followed

// Visits of one kind that were followed, by what the stack saw between them.
struct Followed {
  // sampled lines between, lines of the tile -> sectors, for each group
  std::map<std::pair<int64_t, uint32_t>, std::array<int64_t, groups>> sectors;
  int64_t reused = 0;  // sectors of all visits that are neither first nor followed each other
};

// Distances that a visit may have, in lines.
struct Distances {
  double low, middle, high;
};

enum class End { low, high };

// Followed sectors, and those of them that miss.
struct MissesByGroup {
  std::array<int64_t, groups> all{};
  std::array<int64_t, groups> missed{};

  /// Share that misses without one group of tiles, or with all of them.
  double share(size_t without) const {
    int64_t some = 0;
    int64_t some_missed = 0;
    for (size_t g = 0; g < groups; ++g) {
      if (g == without) continue;
      some += all[g];
      some_missed += missed[g];
    }
    return some == 0 ? 0 : double(some_missed) / double(some);
  }
};

class SampledHistogram {
 public:
  SampledHistogram(const Request& request, LiveAtoms& atoms)
      : rate_(request.sample),
        salt_(mix_seed(request.schedule.seed, 0)),
        atoms_(atoms),
        stack_(std::span<const AtomSize>()) {
    atoms.record_begun();
    count_tiles();
  }

  void visit(const Visit& visit) {
    atoms_.take_begun([this](const HeadRun& run) { begin(run); });
    count(visit);
    atoms_.recycle([this](AtomRange atoms) { end(atoms); });
  }

  int64_t visits() const { return visits_; }
  int64_t tiles() const { return tiles_; }
  int64_t all_tiles() const { return all_tiles_; }

  DistanceHistogram histogram() const;
  Interval interval(std::span<const Tensor> tensors, std::span<const Access> accesses,
                    int64_t capacity_lines) const;

 private:
  // What is known of an atom in flight.
  struct Known {
    bool seen = false;
    std::optional<AtomId> followed;  // its number in the stack
    size_t group = 0;
  };

  void count(const Visit& visit) {
    const AtomSize size = atoms_.size(visit.atom);
    const auto tensor = static_cast<size_t>(atoms_.tensor_of(visit.atom));
    const auto access = static_cast<size_t>(visit.access);
    DistanceClass& known = known_.of(static_cast<Tensor>(tensor), visit.access);
    Followed& followed = followed_[tensor][access];
    visits_ += visit.times;
    if (visit.times > 1) known.add(size.lines - 1, int64_t{size.sectors} * (visit.times - 1));
    Known& atom = atoms_known_[visit.atom];
    const bool first = !std::exchange(atom.seen, true);
    if (first) {
      known.add_cold(size.sectors);
    } else {
      followed.reused += size.sectors;
    }
    if (!atom.followed) return;
    const int64_t between = stack_.visit(*atom.followed);
    if (first) return;
    followed.sectors[{between, size.lines}][atom.group] += size.sectors;
  }

  /// Of atom `number` of all (LiveAtoms::number).
  uint64_t hash_of(int64_t number) const {
    return mix64(salt_ ^ mix64(static_cast<uint64_t>(number) + 1));
  }
  // The high bits choose, so that the low ones are free to tell groups apart.
  bool is_followed(uint64_t hash) const { return std::ldexp(double(hash >> 11), -53) < rate_; }

  void count_tiles();
  void begin(const HeadRun& run);
  void end(AtomRange atoms);
  Distances distances(int64_t between, uint32_t lines) const;
  MissesByGroup misses_by_group(const Followed& followed, End end, int64_t capacity_lines) const;
  double wilson(double share, double variance, double count, double direction) const;

  double rate_;
  uint64_t salt_;
  LiveAtoms& atoms_;
  int64_t tiles_ = 0;  // that are followed
  int64_t all_tiles_ = 0;
  uint32_t largest_lines_ = 1;
  std::vector<Known> atoms_known_;  // by number
  StackDistance stack_;
  AtomId stack_size_ = 0;
  std::map<uint32_t, std::vector<AtomId>> free_;  // numbers in the stack, by lines
  DistanceHistogram known_;
  std::array<std::array<Followed, access_count>, tensor_count> followed_;
  int64_t visits_ = 0;
};

// Of all heads, whether or not they are in flight at once.
void SampledHistogram::count_tiles() {
  const HeadAtoms& heads = atoms_.of_head();
  for (int t = 0; t < tensor_count; ++t) {
    const auto tensor = static_cast<Tensor>(t);
    const int64_t count = heads.heads(tensor) * heads.count(tensor);
    if (count == 0) continue;
    all_tiles_ += count;
    for (int64_t i = 0; i < count; ++i) {
      tiles_ += is_followed(hash_of(atoms_.number(tensor, 0) + i)) ? 1 : 0;
    }
    for (const AtomSize& size : heads.sizes(tensor, 0)) {
      largest_lines_ = std::max(largest_lines_, size.lines);
    }
  }
  if (tiles_ >= static_cast<int64_t>(least_tiles)) return;
  throw std::invalid_argument("sample: only " + std::to_string(tiles_) + " of " +
                              std::to_string(all_tiles_) + " tiles would be followed, at least " +
                              std::to_string(least_tiles) +
                              " are needed; take a larger share, or leave sample out");
}

// Followed atoms get a number in the stack; those of equal size take over the numbers of ended
// ones.
void SampledHistogram::begin(const HeadRun& run) {
  if (run.begin + run.sizes.size() > atoms_known_.size())
    atoms_known_.resize(run.begin + run.sizes.size());
  for (size_t i = 0; i < run.sizes.size(); ++i) {
    const uint64_t hash = hash_of(run.number + static_cast<int64_t>(i));
    Known& known = atoms_known_[run.begin + i];
    known = Known{.followed = {}, .group = hash % groups};
    if (!is_followed(hash)) continue;
    std::vector<AtomId>& free = free_[run.sizes[i].lines];
    if (free.empty()) {
      stack_.add(run.sizes[i].lines);
      free.push_back(stack_size_++);
    }
    known.followed = free.back();
    free.pop_back();
  }
}

void SampledHistogram::end(AtomRange atoms) {
  for (AtomId atom = atoms.begin; atom < atoms.end; ++atom) {
    const std::optional<AtomId> followed = atoms_known_[atom].followed;
    if (!followed) continue;
    stack_.forget({*followed, *followed + 1});
    free_[atoms_.size(atom).lines].push_back(*followed);
  }
}

// Of D lines between two visits the stack sees a binomial share. Its largest step is one tile,
// which stands for all, so that the interval is not too narrow when tiles differ. Counted in lines
// throughout: a quotient by the tile's lines would move distances off whole numbers of lines even
// where every tile is followed.
Distances SampledHistogram::distances(int64_t between, uint32_t lines) const {
  const double left_out = 1 - rate_;
  const double square = normal_quantile * normal_quantile * left_out * double(largest_lines_);
  const auto seen = double(between);
  const double middle = seen + square / 2;
  const double half = std::sqrt(square * (seen + square / 4));
  const double own = double(lines) - 1;
  return {std::max(0.0, middle - half) / rate_ + own, seen / rate_ + own,
          (middle + half) / rate_ + own};
}

MissesByGroup SampledHistogram::misses_by_group(const Followed& followed, End end,
                                                int64_t capacity_lines) const {
  MissesByGroup counts;
  for (const auto& [key, sectors] : followed.sectors) {
    const Distances each = distances(key.first, key.second);
    const double distance = end == End::low ? each.low : each.high;
    const bool misses = distance >= double(capacity_lines);
    for (size_t g = 0; g < groups; ++g) {
      counts.all[g] += sectors[g];
      if (misses) counts.missed[g] += sectors[g];
    }
  }
  return counts;
}

// One end of Wilson's interval for a share with this variance; without any, `count` tiles agree.
double SampledHistogram::wilson(double share, double variance, double count,
                                double direction) const {
  const double left_out = 1 - rate_;
  const double spread = student_quantile * student_quantile * left_out;
  const double seen = variance > 0 ? std::min(count, share * (1 - share) / variance) : count;
  if (spread == 0 || seen <= 0) return seen <= 0 && direction > 0 ? 1 : share;
  const double step = spread / seen;
  const double half = std::sqrt(step * share * (1 - share) + step * step / 4);
  return std::clamp((share + step / 2 + direction * half) / (1 + step), 0.0, 1.0);
}

Interval SampledHistogram::interval(std::span<const Tensor> tensors,
                                    std::span<const Access> accesses,
                                    int64_t capacity_lines) const {
  double known = 0;
  double reused = 0;
  std::vector<const Followed*> parts;
  for (const Tensor tensor : tensors) {
    for (const Access access : accesses) {
      known += double(known_.of(tensor, access).misses(capacity_lines));
      const Followed& part = followed_[static_cast<size_t>(tensor)][static_cast<size_t>(access)];
      reused += double(part.reused);
      if (part.reused > 0) parts.push_back(&part);
    }
  }
  if (parts.empty()) return {std::llround(known), std::llround(known)};
  const auto end_of = [&](End end, double direction) {
    std::array<double, groups + 1> shares{};  // without each group, and of all
    for (const Followed* part : parts) {
      const MissesByGroup counts = misses_by_group(*part, end, capacity_lines);
      for (size_t g = 0; g <= groups; ++g) {
        shares[g] += double(part->reused) / reused * counts.share(g);
      }
    }
    double variance = 0;
    for (size_t g = 0; g < groups; ++g) variance += std::pow(shares[g] - shares[groups], 2);
    variance *= double(groups - 1) / groups;
    return known + reused * wilson(shares[groups], variance, double(tiles_), direction);
  };
  return {static_cast<int64_t>(std::floor(end_of(End::low, -1) + rounding)),
          static_cast<int64_t>(std::ceil(end_of(End::high, 1) - rounding))};
}

// The followed visits, scaled so that all sectors are there.
DistanceHistogram SampledHistogram::histogram() const {
  DistanceHistogram histogram = known_;
  for (size_t t = 0; t < tensor_count; ++t) {
    for (size_t a = 0; a < access_count; ++a) {
      const Followed& followed = followed_[t][a];
      DistanceClass& distances_of = histogram.of(static_cast<Tensor>(t), static_cast<Access>(a));
      double all = 0;
      for (const auto& [key, by_group] : followed.sectors) {
        for (const int64_t sectors : by_group) all += double(sectors);
      }
      if (followed.reused > 0 && all == 0) {
        throw std::invalid_argument("sample: no tile of " + std::string(tensor_names[t]) +
                                    " that comes back would be followed; take a larger share");
      }
      double sum = 0;
      int64_t added = 0;
      for (const auto& [key, by_group] : followed.sectors) {
        for (const int64_t sectors : by_group) sum += double(sectors);
        const int64_t upto = std::llround(double(followed.reused) * (sum / all));
        const double distance = distances(key.first, key.second).middle;
        if (upto > added) distances_of.add(std::llround(distance), upto - added);
        added = upto;
      }
    }
  }
  return histogram;
}

}  // namespace

Prediction simulate_sampled_lru(const Request& request) {
  require_forward(request, "a sample");
  require_one_length(request, "a sample");
  LiveAtoms atoms(request.problem, request.tiling, request.schedule, request.log_sum_exp);
  SampledHistogram sampled(request, atoms);
  Prediction prediction;
  prediction.steps = replay_lockstep(request, atoms, sampled);
  prediction.histogram = sampled.histogram();
  prediction.tile_visits = sampled.visits();
  const int64_t capacity_lines = request.l2_bytes / line_bytes;
  count_all(prediction, capacity_lines);
  std::vector<Tensor> tensors;
  for (int t = 0; t < tensor_count; ++t) tensors.push_back(static_cast<Tensor>(t));
  constexpr Access reads[] = {Access::read, Access::prefetch};
  constexpr Access writes[] = {Access::write};
  prediction.sampling = {
      .tiles = sampled.tiles(),
      .all_tiles = sampled.all_tiles(),
      .l2_read_miss_sectors = sampled.interval(tensors, reads, capacity_lines),
      .l2_write_miss_sectors = sampled.interval(tensors, writes, capacity_lines)};
  return prediction;
}

}  // namespace sawtooth::sim
