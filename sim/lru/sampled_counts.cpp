#include "sim/lru/sampled_counts.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "scheduler/permutation.hpp"

namespace sawtooth::sim {
namespace {

constexpr double normal_quantile = 1.960;   // 97.5 %
constexpr double student_quantile = 2.131;  // 97.5 % with groups - 1 degrees of freedom
constexpr double rounding = 1e-3;           // of sums of shares, in sectors
constexpr size_t least_tiles = 2 * SampledCounts::groups;  // that must be followed

}  // namespace

// Followed sectors, and those of them that miss.
struct SampledCounts::MissesByGroup {
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

SampledCounts::SampledCounts(double rate, uint64_t seed)
    : rate_(rate), salt_(mix_seed(seed, 0)), stack_(std::span<const AtomSize>()) {}

uint64_t SampledCounts::hash_of(int64_t number) const {
  return mix64(salt_ ^ mix64(static_cast<uint64_t>(number) + 1));
}

// The high bits choose, so that the low ones are free to tell groups apart.
bool SampledCounts::is_followed(uint64_t hash) const {
  return std::ldexp(double(hash >> 11), -53) < rate_;
}

void SampledCounts::add_tile(int64_t number, uint32_t lines) {
  ++all_tiles_;
  tiles_ += is_followed(hash_of(number)) ? 1 : 0;
  largest_lines_ = std::max(largest_lines_, lines);
}

void SampledCounts::require_enough_tiles() const {
  if (tiles_ >= static_cast<int64_t>(least_tiles)) return;
  throw std::invalid_argument("sample: only " + std::to_string(tiles_) + " of " +
                              std::to_string(all_tiles_) + " tiles would be followed, at least " +
                              std::to_string(least_tiles) +
                              " are needed; take a larger share, or leave sample out");
}

// Followed tiles get a number in the stack; those of equal size take over the numbers of ended
// ones.
SampledCounts::Known SampledCounts::begin(int64_t number, uint32_t lines) {
  const uint64_t hash = hash_of(number);
  Known tile{.seen = false, .followed = {}, .group = hash % groups};
  if (!is_followed(hash)) return tile;
  std::vector<AtomId>& free = free_[lines];
  if (free.empty()) {
    stack_.add(lines);
    free.push_back(stack_size_++);
  }
  tile.followed = free.back();
  free.pop_back();
  return tile;
}

void SampledCounts::end(const Known& tile, uint32_t lines) {
  if (!tile.followed) return;
  stack_.forget({*tile.followed, *tile.followed + 1});
  free_[lines].push_back(*tile.followed);
}

void SampledCounts::count(Known& tile, const AtomSize& size, Tensor tensor, Access access,
                          uint32_t times) {
  DistanceClass& known = known_.of(tensor, access);
  Followed& followed = followed_[static_cast<size_t>(tensor)][static_cast<size_t>(access)];
  visits_ += times;
  if (times > 1) known.add(size.lines - 1, int64_t{size.sectors} * (times - 1));
  const bool first = !std::exchange(tile.seen, true);
  if (first) {
    known.add_cold(size.sectors);
  } else {
    followed.reused += size.sectors;
  }
  if (!tile.followed) return;
  const int64_t between = stack_.visit(*tile.followed);
  if (first) return;
  followed.sectors[{between, size.lines}][tile.group] += size.sectors;
}

// Of D lines between two visits the stack sees a binomial share. Its largest step is one tile,
// which stands for all, so that the interval is not too narrow when tiles differ. Counted in lines
// throughout: a quotient by the tile's lines would move distances off whole numbers of lines even
// where every tile is followed.
SampledCounts::Distances SampledCounts::distances(int64_t between, uint32_t lines) const {
  const double left_out = 1 - rate_;
  const double square = normal_quantile * normal_quantile * left_out * double(largest_lines_);
  const auto seen = double(between);
  const double middle = seen + square / 2;
  const double half = std::sqrt(square * (seen + square / 4));
  const double own = double(lines) - 1;
  return {std::max(0.0, middle - half) / rate_ + own, seen / rate_ + own,
          (middle + half) / rate_ + own};
}

SampledCounts::MissesByGroup SampledCounts::misses_by_group(const Followed& followed, End end,
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
double SampledCounts::wilson(double share, double variance, double count, double direction) const {
  const double left_out = 1 - rate_;
  const double spread = student_quantile * student_quantile * left_out;
  const double seen = variance > 0 ? std::min(count, share * (1 - share) / variance) : count;
  if (spread == 0 || seen <= 0) return seen <= 0 && direction > 0 ? 1 : share;
  const double step = spread / seen;
  const double half = std::sqrt(step * share * (1 - share) + step * step / 4);
  return std::clamp((share + step / 2 + direction * half) / (1 + step), 0.0, 1.0);
}

Interval SampledCounts::interval(std::span<const Access> accesses, int64_t capacity_lines) const {
  double known = 0;
  double reused = 0;
  std::vector<const Followed*> parts;
  for (int t = 0; t < tensor_count; ++t) {
    for (const Access access : accesses) {
      known += double(known_.of(static_cast<Tensor>(t), access).misses(capacity_lines));
      const Followed& part = followed_[static_cast<size_t>(t)][static_cast<size_t>(access)];
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

Sampling SampledCounts::sampling(int64_t capacity_lines) const {
  constexpr Access reads[] = {Access::read, Access::prefetch};
  constexpr Access writes[] = {Access::write};
  return {.tiles = tiles_,
          .all_tiles = all_tiles_,
          .l2_read_miss_sectors = interval(reads, capacity_lines),
          .l2_write_miss_sectors = interval(writes, capacity_lines)};
}

DistanceHistogram SampledCounts::histogram() const {
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

}  // namespace sawtooth::sim
