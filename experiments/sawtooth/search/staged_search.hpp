// The search of one shape: closed forms and bounds, then a cheaper problem, then the deciding
// model for the best of them; all of them at once where they are few.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/search/evaluations.hpp"
#include "experiments/sawtooth/search/objective.hpp"
#include "experiments/sawtooth/search/space.hpp"

namespace sawtooth::experiments {

/// Above every value of a column.
inline constexpr double infinite = std::numeric_limits<double>::infinity();

struct Goal {
  Objective minimise;
  std::vector<Constraint> constraints;
  uint64_t seed = 0;
};

/// What became of one candidate.
struct Verdict {
  const Candidate* candidate = nullptr;
  CsvRow row;  // of the deciding model; key cells and a status where it did not decide
  std::string evaluated_by;  // the last model that looked at it; bound, visits, draw
  std::string why;           // it lost, in words
  bool decided = false;
  bool feasible = false;           // decided, and keeps the constraints
  bool pareto = false;             // no decided one has less time and fewer DRAM reads
  int rank = 0;                    // from 1 on; 0: not ranked
  std::optional<double> screened;  // the objective on the cheaper problem
};

struct SearchedShape {
  const Shape* shape = nullptr;
  std::vector<Verdict> verdicts;  // ranked ones first, in the order of their ranks
  std::optional<Verdict> usual;   // where it lies outside of the space
  std::string summary;            // numbers of candidates by stage

  const Verdict* best() const {
    return !verdicts.empty() && verdicts.front().feasible ? &verdicts.front() : nullptr;
  }
  const Verdict* usual_verdict() const;
};

/// How many steps of `timed` count as a second of one core, whatever the machine: a budget in
/// seconds gives the same answer everywhere (experiments/studies/scale/README.md, 5.9 M visits a
/// second, two visits a step).
inline constexpr double steps_a_second = 2.95e6;

SearchedShape search_shape(const Shape& shape, const Goal& goal, const Budget& budget,
                           const std::string& experiment, Catalog& catalog,
                           Evaluations& evaluations);

/// "+1.25 %": how far `value` is above `best`.
std::string percent_above(double value, double best);

/// The least time that the candidate's own order can take; nothing where its model knows no time.
std::optional<double> least_time_us(const Candidate& candidate);

/// Times within this factor are the same: the noise of a measured launch.
inline constexpr double same_time = 1.005;

/// Ranks what was decided: the feasible by the objective, then the others by how far they are out.
/// First comes, of those within same_time of the least time, the one with the fewest DRAM reads.
void rank(std::vector<Verdict>& verdicts, const Goal& goal);

}  // namespace sawtooth::experiments
