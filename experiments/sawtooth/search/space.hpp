// The schedules that a search chooses from, shape by shape.
//
// Axes of the keys of the schedule, of kernel and of hints are the declared space; axes of other
// keys are a list of shapes. Where no axis is declared, launch, scan, q-order and section are, as
// far as they are not given; and kernels with their tiles and CTAs an SM, where none of these is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

struct Candidate {
  Settings settings;  // one value a key
  Point point;        // may be refused
  CsvRow key_cells;
};

struct Shape {
  std::string name;  // of the keys that differ between shapes: "seq 4096 mask causal"
  std::vector<Candidate> candidates;
  /// What a kernel does where nothing is said: grid, linear, a head at a time, ascending, with a
  /// mask descending. Index of a candidate, or one of its own outside of the space.
  std::optional<size_t> usual_index;
  std::optional<Candidate> usual_outside;

  const Candidate* usual() const {
    if (usual_index) return &candidates[*usual_index];
    return usual_outside ? &*usual_outside : nullptr;
  }
};

/// Resolves a point and makes its key cells.
Candidate candidate_of(Settings settings, const std::string& experiment, Catalog& catalog);

/// Throws UsageError for wrong keys; combinations that keys forbid are refused candidates.
std::vector<Shape> search_space(Configuration configuration, const Settings& command_line,
                                const std::string& experiment, Catalog& catalog);

/// Candidates with the same text replay the same visits but for the names of Q tiles: under
/// launches without tickets `sawtooth` turns as `sawtooth-wave`; without a mask all Q tiles are
/// alike; one head, or one sequence, can be numbered in one way only.
std::string visits_key(const Candidate& candidate);

/// K/V tile steps of all items: what a replay's time grows with.
double steps_of(const Candidate& candidate);

// A cheaper problem that ranks schedules before the deciding model does.

/// By which power of two a shape's problem is shortened: as long as all items still make two waves
/// and K/V have 16 tiles, until a replay has at most 2^18 steps.
int64_t shortening(const Candidate& candidate);

/// Both lengths, the window and L2 divided by `divisor`, so that the K/V heads that fit in L2, and
/// where in a head its edge lies, stay as they are.
Candidate shortened(const Candidate& candidate, int64_t divisor, const std::string& experiment,
                    Catalog& catalog);

}  // namespace sawtooth::experiments
