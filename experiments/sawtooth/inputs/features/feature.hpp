// What a feature of points is: one struct in one header of this folder, with all that is about it.
// keys.hpp lists the features, and what goes over all of them goes over that list: the table of
// options, resolution (point.cpp), the columns of results.csv, judgements. Adding a key to a
// feature touches its header alone. Besides its members, which Keys inherits, a feature may have
//
//   options<Keys>()                     rows of the table of options, in blocks, each behind a key
//   columns                             of results.csv, in their order
//   complete_text(layers)               keys that follow from its own, before any has a type
//   resolve_problem(layers, point)      its part of the problem, or what it refuses of it
//   resolve_tiles(layers, point)        the tiling is the keys'; problem, tiling and sequences
//   check_schedule(layers, point)       what it refuses of the schedule, whose order is not known
//   resolve_items(layers, point)        the order of items is known
//   resolve_model(layers, point)        the parameters of the model
//   parts(sweep)                        sweeps that a sweep with its keys stands for
//   in_use() and judged_points          whether a point has it; its points in profiles/judged.csv
//   own_kernels                         points that have it run kernels whose costs no file has
//
// Point is complete behind all of these headers only: what takes one is a template.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/layers.hpp"
#include "experiments/sawtooth/inputs/option_schema.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"

namespace sawtooth::experiments {

/// Rows behind the one of key `behind`.
struct OptionBlock {
  std::string_view behind;
  std::vector<OptionSpec> rows;
};
using OptionBlocks = std::vector<OptionBlock>;

/// What a column says, and so which commands look at it.
enum class ColumnKind : uint8_t {
  label,      // a name of the row; part of no comparison
  point,      // of the point, and of its run_id
  joined,     // the same, and a prediction and a measurement join where it agrees
  optional,   // as joined; not of the run_id where it is empty, as in tables from before it
  kernel,     // joined by family; not of the run_id, as a prediction may leave it open
  model,      // of the model of a prediction, and of the run_id
  parameter,  // of the L2 model; of the run_id where it is not empty
  content,    // of the files that the point uses; of the run_id
  made,       // how a prediction was made otherwise; of the run_id where it is not empty
  result,     // what came out
  interval,   // where that lies in 90 % of points, of a prediction that knows
};

struct RowSource;  // results/columns.hpp

struct ResultColumn {
  std::string_view name;
  ColumnKind kind;
  std::string_view unsaid = {};  // the value that leaves the cell empty
  bool may_be_path = false;      // rows are told apart by what the file says, in `inputs`
  std::string (*cell)(const RowSource& source) = nullptr;  // empty: of the option of this name
};

/// Goes over features: for_each() calls `function` with a null pointer to each.
template <class... Feature>
struct FeatureList : Feature... {
  template <class Function>
  static constexpr void for_each(Function function) {
    (function(static_cast<Feature*>(nullptr)), ...);
  }
};

}  // namespace sawtooth::experiments
