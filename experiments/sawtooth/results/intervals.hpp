// The columns X_low and X_high of a predicted row.
#pragma once

#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

/// The kind of a predicted point, a name of point_kind_names.
std::string_view kind_name(const RowSource& source);

/// Fills the interval of every column that the point's judgement has a width of, around its
/// predicted value; of counters in whole sectors, outwards. One that is not predicted, or is 0 in a
/// launch, has none. Of a point that spans models they go from the least to the most of these.
/// Intervals end at what is compulsory and at what SMs read.
void add_intervals(const RowSource& source, CsvRow& row);

}  // namespace sawtooth::experiments
