#include "experiments/sawtooth/calibrate/stream_row.hpp"

#include <ostream>

namespace sawtooth::experiments {
namespace {

using cupti::L2Counter;

constexpr std::array columns{
    StreamColumn{"tex_read", L2Counter::l2_read},
    StreamColumn{"tex_miss", L2Counter::l2_read_miss},
    StreamColumn{"tex_write", L2Counter::l2_write},
    StreamColumn{"tex_write_miss", L2Counter::l2_write_miss},
    StreamColumn{"all_read", L2Counter::all_read},
    StreamColumn{"all_miss", L2Counter::all_read_miss},
    StreamColumn{"fab_read", L2Counter::fabric_read},
    StreamColumn{"fab_hit", L2Counter::fabric_read_hit},
    StreamColumn{"fab_miss", L2Counter::fabric_read_miss},
    StreamColumn{"fill_dev", L2Counter::fill_device},
    StreamColumn{"fill_sys", L2Counter::fill_system},
    StreamColumn{"dram_read", L2Counter::dram_read},
    StreamColumn{"dram_write", L2Counter::dram_write},
    StreamColumn{"l1_xbar", L2Counter::sm_read},
    StreamColumn{"lrc_in", L2Counter::coalescer_in},
    StreamColumn{"lrc_out", L2Counter::coalescer_out},
    StreamColumn{"lrc_shared", L2Counter::coalescer_shared},
    StreamColumn{"time_ns", L2Counter::duration_ns},
};

std::string joined(const std::vector<int64_t>& values) {
  std::string text;
  for (const int64_t value : values) {
    if (!text.empty()) text += ';';
    text += std::to_string(value);
  }
  return text;
}

}  // namespace

std::span<const StreamColumn> stream_columns() {
  return columns;
}

std::optional<int64_t> dram_reads(const StreamRow& row) {
  if (const auto dram = row.count(L2Counter::dram_read)) return dram;
  const auto device = row.count(L2Counter::fill_device);
  if (!device) return std::nullopt;
  return *device + row.count(L2Counter::fill_system).value_or(0);
}

void write_stream_csv(std::ostream& out, const std::vector<StreamRow>& rows) {
  out << "set,mode,kind,flush,n_mib,pattern,map,range,reps,repetition,expected";
  for (const StreamColumn& column : columns) out << ',' << column.name;
  out << ",dram_read_by_pass,l1_xbar_by_pass,replay_passes,wall_ms\n";
  for (const StreamRow& row : rows) {
    out << "full,user_split," << kernels::stream_access_names[static_cast<size_t>(row.point.access)]
        << ",both," << row.point.mib << ',' << (row.point.reversed ? "sawtooth" : "linear") << ','
        << stream_shape_names[static_cast<size_t>(row.point.shape)] << ',' << row.range << ",1,"
        << row.repetition << ',' << row.expected_sectors;
    for (const StreamColumn& column : columns) {
      out << ',';
      if (const auto count = row.count(column.counter)) out << *count;
    }
    out << ',' << joined(row.dram_read_by_pass) << ',' << joined(row.sm_read_by_pass) << ','
        << row.replay_passes << ',' << row.wall_ms << '\n';
  }
}

}  // namespace sawtooth::experiments
