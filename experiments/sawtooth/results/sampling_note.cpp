#include "experiments/sawtooth/results/sampling_note.hpp"

#include <sstream>

#include "experiments/sawtooth/results/result_row.hpp"

namespace sawtooth::experiments {

std::string sampling_note(const CsvRow& row, const sim::Prediction& prediction) {
  if (!prediction.sampling) return "";
  const sim::Sampling& sampling = *prediction.sampling;
  std::ostringstream note;
  note << "note: " << row[result_column("run_id")] << ": followed " << sampling.tiles << " of "
       << sampling.all_tiles << " tiles";
  const auto add = [&](const char* name, const sim::Sectors& count, sim::Interval interval) {
    note << "; " << name << " " << count.value_or(0) << ", 95 % interval " << interval.low << " to "
         << interval.high;
  };
  add("l2_read_miss_sectors", prediction.total.l2_read_miss_sectors, sampling.l2_read_miss_sectors);
  add("l2_write_miss_sectors", prediction.total.l2_write_miss_sectors,
      sampling.l2_write_miss_sectors);
  note << "\n";
  return note.str();
}

}  // namespace sawtooth::experiments
