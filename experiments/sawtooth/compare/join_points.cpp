#include "experiments/sawtooth/compare/join_points.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace sawtooth::experiments {
namespace {

// Pairs of points that a search for the nearest one looks at: a second or two.
constexpr size_t most_pairs_looked_at = size_t{200} << 20;

// The bits of columns in which two points differ, system's among them.
class Differences {
 public:
  explicit Differences(PointKeys& keys)
      : keys_(keys), published_(keys.words().number("published")) {}

  ColumnBits of(const ComparedPoint& p, const ComparedPoint& m) const {
    const PointKeys::Cells& ours = keys_.cells(p.key);
    const PointKeys::Cells& theirs = keys_.cells(m.key);
    ColumnBits apart = ColumnBits{p.system != m.system} << system_bit;
    for (size_t i = 0; i < ours.size(); ++i) apart |= ColumnBits{ours[i] != theirs[i]} << i;
    apart &= ~(p.open | m.open);
    // What was measured from outside is that system's, not any kernel's of the same problem.
    constexpr size_t launch = join_column("launch");
    const bool known_order = theirs[launch] != Words::empty || m.source == published_;
    if (!known_order && ours[launch] != Words::empty && p.system != m.system)
      apart |= ColumnBits{1} << system_bit;
    return apart;
  }

 private:
  const PointKeys& keys_;
  uint32_t published_;
};

std::string_view name_of_bit(size_t bit) {
  return bit == system_bit ? "system" : join_columns()[bit];
}

// Of the cells that are not open.
uint64_t hash_of(const ComparedPoint& point, const PointKeys& keys, ColumnBits open) {
  constexpr uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / the golden ratio
  const PointKeys::Cells& cells = keys.cells(point.key);
  uint64_t state = open >> system_bit & 1 ? 0 : point.system;
  for (size_t i = 0; i < cells.size(); ++i)
    state = (state ^ (open >> i & 1 ? 0 : cells[i])) * odd + (state >> 32);
  return state;
}

// Places of points by their open columns.
std::map<ColumnBits, std::vector<uint32_t>> by_open_columns(const ComparedPoints& points) {
  std::map<ColumnBits, std::vector<uint32_t>> places;
  for (uint32_t place = 0; place < points.points().size(); ++place)
    places[points.points()[place].open].push_back(place);
  return places;
}

}  // namespace

JoinedPairs join_points(const ComparedPoints& predicted, const ComparedPoints& measured) {
  const PointKeys& keys = *predicted.keys();
  const Differences differences(*predicted.keys());
  const auto ours = by_open_columns(predicted);
  const auto theirs = by_open_columns(measured);
  JoinedPairs pairs;
  for (const auto& [their_open, m_places] : theirs) {
    for (const auto& [our_open, p_places] : ours) {
      const ColumnBits open = our_open | their_open;
      std::unordered_multimap<uint64_t, uint32_t> measured_by_hash;
      measured_by_hash.reserve(m_places.size());
      for (const uint32_t m : m_places)
        measured_by_hash.emplace(hash_of(measured.points()[m], keys, open), m);
      for (const uint32_t p : p_places) {
        const auto [begin, end] =
            measured_by_hash.equal_range(hash_of(predicted.points()[p], keys, open));
        for (auto at = begin; at != end; ++at)
          if (differences.of(predicted.points()[p], measured.points()[at->second]) == 0)
            pairs.emplace_back(p, at->second);
      }
    }
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

ColumnsApart columns_apart(const ComparedPoints& predicted, const ComparedPoints& measured,
                           const std::vector<bool>& is_joined) {
  ColumnsApart found;
  if (measured.points().empty()) return found;
  const Differences differences(*predicted.keys());
  const size_t most = std::max<size_t>(1, most_pairs_looked_at / measured.points().size());
  for (size_t place = 0; place < predicted.points().size() && found.looked_at < most; ++place) {
    if (is_joined[place]) continue;
    ++found.looked_at;
    ColumnBits least = 0;
    for (const ComparedPoint& m : measured.points()) {
      const ColumnBits apart = differences.of(predicted.points()[place], m);
      if (least == 0 || std::popcount(apart) < std::popcount(least)) least = apart;
      if (std::has_single_bit(least)) break;
    }
    for (size_t bit = 0; bit <= system_bit; ++bit)
      if (least >> bit & 1) ++found.points[name_of_bit(bit)];
  }
  return found;
}

}  // namespace sawtooth::experiments
