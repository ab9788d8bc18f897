// The search of one shape: closed forms and bounds, then a cheaper problem, then the deciding
// model for the best of them; all of them at once where they are few.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

// The schedules that a search chooses from, shape by shape.
//
// Axes of the keys of the schedule, of kernel and of hints are the declared space; axes of other
// keys are a list of shapes. Where no axis is declared, launch, scan, q-order and section are, as
// far as they are not given; and kernels with their tiles and CTAs an SM, where none of these is.

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

// What a search minimises, under which constraints, and how much it may spend.

/// A column of results.csv that a prediction fills with a number.
struct Objective {
  size_t column = 0;
  std::string name;
};

inline const Objective time_objective{result_column("time_us"), "time_us"};
inline const Objective dram_objective{result_column("dram_read_sectors"), "dram_read_sectors"};

/// A counter's column or time_us; `time` is short for it. Throws UsageError that begins with
/// `place`.
Objective objective_named(std::string_view name, const std::string& place);

/// COLUMN<=NUMBER, or COLUMN<=NUMBER*best: times the least value of the shape.
struct Constraint {
  Objective objective;
  double limit = 0;
  bool of_best = false;
};
std::vector<Constraint> constraints_in(const std::string& list, const std::string& place);

/// For every shape so many evaluations by the deciding model; or for all shapes together so many
/// seconds of one core, by an estimate that does not depend on the machine.
struct Budget {
  std::optional<int64_t> evaluations;
  std::optional<double> seconds;
};
Budget budget_of(const std::string& text, const std::string& place);

/// The number in a cell of a row that has a result; nothing where it is empty.
std::optional<double> value_in(const CsvRow& row, const Objective& objective);

// Rows of candidates, each predicted once and kept in a log that a search can go on from.

class Evaluations {
 public:
  /// The log of PATH.csv is PATH.points.csv; "-" and no path keep none.
  Evaluations(const Settings& outputs, const std::string& path);

  /// Rows in the order of `candidates`, on several threads; their bytes do not depend on how many.
  std::vector<CsvRow> of(const std::vector<const Candidate*>& candidates, const std::string& what);

  /// Begins the log. Throws UsageError where an old row of a candidate was made from other files.
  void start(const std::vector<Shape>& shapes);
  void finish();

 private:
  size_t threads_;
  bool quiet_;
  ResultLog log_;
  std::map<std::string, CsvRow> known_;  // of this run, by row_key
};

// Stages.

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
/// And DRAM reads: the median error of the timed model on lists that set no number of it
/// (experiments/studies/prediction).
inline constexpr double same_reads = 1.02;

/// Ranks what was decided: the feasible by the objective, then the others by how far they are out.
/// First comes, of those within same_time of the least time and within same_reads of the fewest
/// DRAM reads among them, the fastest.
void rank(std::vector<Verdict>& verdicts, const Goal& goal);

}  // namespace sawtooth::experiments
