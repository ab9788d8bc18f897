// Whole tiles, split tiles, single lines and a cache written from its definition: all policies,
// hashes and priorities, visit by visit.
#include <algorithm>
#include <random>

#include "sim/sets/partition.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/naive_sets.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

using tests::between;

struct Case {
  SetsParameters parameters;
  int64_t sets = 1;
  std::vector<LineSpan> atoms;
  std::vector<Priority> priorities;  // of an atom; empty: all normal
  std::vector<AtomId> visits;

  SetGeometry geometry() const {
    return set_geometry(sets * parameters.ways * parameters.line_bytes, parameters);
  }
  SetPartition partition(bool by_lines) const {
    return SetPartition(atoms, SetHash(parameters, sets), parameters.line_bytes, by_lines, "asked");
  }
};

std::vector<AtomId> any_visits(size_t atoms, int64_t most) {
  std::mt19937_64 random(static_cast<uint64_t>(between(0, 1 << 30)));
  const auto window = static_cast<size_t>(between(1, static_cast<int64_t>(atoms)));
  std::vector<AtomId> visits(static_cast<size_t>(between(1, most)));
  for (size_t i = 0; i < visits.size(); ++i)
    visits[i] = static_cast<AtomId>((i / 3 + random() % window) % atoms);
  return visits;
}

// Rows that are independent because row i alone has bit i of the lowest bits.
std::vector<uint64_t> any_matrix(int64_t set_bits) {
  std::vector<uint64_t> matrix;
  for (int64_t bit = 0; bit < set_bits; ++bit) {
    const auto upper = static_cast<uint64_t>(between(0, 1 << 10));
    matrix.push_back(uint64_t{1} << bit | upper << set_bits);
  }
  return matrix;
}

/// Atoms of any size anywhere, or with `aligned` all of one power of two, aligned to it.
Case any_case(bool aligned) {
  Case any;
  SetsParameters& p = any.parameters;
  p.hash = static_cast<HashKind>(between(aligned ? 1 : 0, aligned ? 1 : 2));
  const int64_t atom_bits = between(0, 3);
  const int64_t set_bits = between(aligned ? atom_bits : 0, 5);
  any.sets = p.hash == HashKind::exclusive_or ? int64_t{1} << set_bits : between(1, 40);
  if (p.hash == HashKind::exclusive_or && between(0, 1) == 1) p.matrix = any_matrix(set_bits);
  p.policy = static_cast<SetPolicy>(between(0, 4));
  p.ways = p.policy == SetPolicy::plru ? int64_t{1} << between(0, 3) : between(1, 6);
  p.seed = static_cast<uint64_t>(between(0, 1000));
  uint64_t line = 0;
  const int64_t atoms = between(1, 16);
  const int64_t largest = between(1, 12);
  for (int64_t i = 0; i < atoms; ++i) {
    const auto lines =
        static_cast<uint32_t>(aligned ? int64_t{1} << atom_bits : between(1, largest));
    line += static_cast<uint64_t>(between(0, 2) * (aligned ? lines : 1));
    any.atoms.push_back({line, lines, 4 * lines - static_cast<uint32_t>(between(0, 3))});
    line += lines;
  }
  if (p.policy != SetPolicy::opt && between(0, 1) == 1) {
    p.set_aside_bytes = between(0, 3 * any.sets * p.ways / 4) * p.line_bytes;
    for (int64_t i = 0; i < atoms; ++i)
      any.priorities.push_back(static_cast<Priority>(between(0, 2)));
  }
  any.visits = any_visits(any.atoms.size(), 60);
  return any;
}

std::vector<uint32_t> by_engine(const Case& c, const SetPartition& partition) {
  const auto engine = make_set_engine(partition, c.geometry(), c.parameters,
                                      c.priorities.empty() ? nullptr : &c.priorities);
  std::vector<uint32_t> missed(c.visits.size());
  // In two batches: what a set holds must outlast a call.
  const size_t half = c.visits.size() / 2;
  const std::span<const AtomId> visits(c.visits);
  engine->visit(visits.first(half), std::span(missed).first(half));
  engine->visit(visits.subspan(half), std::span(missed).subspan(half));
  return missed;
}

std::vector<uint32_t> by_definition(const Case& c) {
  const SetHash hash(c.parameters, c.sets);
  const int64_t set_aside =
      c.parameters.set_aside_bytes.value_or(3 * c.sets * c.parameters.ways * 128 / 4);
  tests::NaiveSets cache(static_cast<size_t>(c.parameters.ways),
                         static_cast<size_t>(set_aside / (c.sets * 128)), c.parameters.policy,
                         c.parameters.seed);
  if (c.parameters.policy == SetPolicy::opt)
    for (const AtomId atom : c.visits)
      for (uint32_t i = 0; i < c.atoms[atom].lines; ++i)
        cache.future.push_back(c.atoms[atom].first + i);
  std::vector<uint32_t> missed;
  for (const AtomId atom : c.visits) {
    const LineSpan span = c.atoms[atom];
    const Priority priority = c.priorities.empty() ? Priority::normal : c.priorities[atom];
    uint32_t sectors = 0;
    for (uint32_t i = 0; i < span.lines; ++i) {
      const bool hit = cache.access(span.first + i, hash.set_of(span.first + i), priority);
      if (!cache.future.empty()) cache.future.erase(cache.future.begin());
      if (!hit) sectors += std::min(4u, span.sectors - 4 * i);
    }
    missed.push_back(sectors);
  }
  return missed;
}

RC_GTEST_PROP(SetEngines, LineByLineEqualsTheDefinition, ()) {
  const Case any = any_case(false);
  RC_ASSERT(by_engine(any, any.partition(true)) == by_definition(any));
}

RC_GTEST_PROP(SetEngines, SplitTilesEqualTheDefinition, ()) {
  Case any = any_case(false);
  if (any.parameters.policy == SetPolicy::random) any.parameters.policy = SetPolicy::lru;
  RC_ASSERT(by_engine(any, any.partition(false)) == by_definition(any));
}

RC_GTEST_PROP(SetEngines, WholeTilesEqualTheDefinitionWhereBIsClaimed, ()) {
  Case any = any_case(true);
  if (any.parameters.policy == SetPolicy::random) any.parameters.policy = SetPolicy::fifo;
  const SetPartition partition = any.partition(false);
  RC_ASSERT(partition.whole_atoms());
  RC_ASSERT(by_engine(any, partition) == by_definition(any));
}

}  // namespace
}  // namespace sawtooth::sim
