#include "experiments/sawtooth/calibrate/stream_row.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "scheduler/memory_units.hpp"

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

namespace {

using cupti::L2Counter;
using kernels::StreamAccess;

// Chosen on a 60 MiB L2; other sizes of L2 scale them.
constexpr int64_t reference_l2_mib = 60;
constexpr std::array<int64_t, 14> reference_sizes{8,  16, 24, 28, 32, 36, 40,
                                                  44, 48, 56, 64, 80, 96, 128};
constexpr std::array<int64_t, 7> coarse_sizes{8, 16, 32, 40, 48, 64, 96};

int64_t scaled_mib(int64_t reference, int64_t l2_bytes) {
  const double share = double(l2_bytes) / double(reference_l2_mib * mib_bytes);
  return std::max<int64_t>(1, std::llround(double(reference) * share));
}

constexpr std::array counters{
    L2Counter::l2_read_miss,  L2Counter::fabric_read_miss, L2Counter::all_read_miss,
    L2Counter::l2_write_miss, L2Counter::dram_write,       L2Counter::l2_read,
    L2Counter::fabric_read,   L2Counter::all_read,         L2Counter::l2_write,
    L2Counter::coalescer_in,  L2Counter::coalescer_out,    L2Counter::coalescer_shared,
    L2Counter::fill_device,   L2Counter::fill_system,      L2Counter::fabric_read_hit,
};

}  // namespace

std::vector<int64_t> stream_sizes_mib(int64_t l2_bytes) {
  std::vector<int64_t> sizes;
  for (const int64_t size : reference_sizes) sizes.push_back(scaled_mib(size, l2_bytes));
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<StreamPoint> stream_points(int64_t l2_bytes, bool tma) {
  std::vector<StreamPoint> points;
  const auto add = [&](StreamAccess access, StreamShape shape, auto&& sizes) {
    for (const int64_t mib : sizes) {
      for (const bool reversed : {false, true}) points.push_back({access, shape, reversed, mib});
    }
  };
  const std::vector<int64_t> fine = stream_sizes_mib(l2_bytes);
  std::vector<int64_t> coarse;
  for (const int64_t size : coarse_sizes) coarse.push_back(scaled_mib(size, l2_bytes));
  coarse.erase(std::unique(coarse.begin(), coarse.end()), coarse.end());

  add(StreamAccess::ld, StreamShape::same, fine);
  add(StreamAccess::ld, StreamShape::all, fine);
  add(StreamAccess::ld, StreamShape::shift, fine);
  add(StreamAccess::ld, StreamShape::one, coarse);
  add(StreamAccess::write, StreamShape::same, coarse);
  if (tma) {
    add(StreamAccess::tma, StreamShape::same, coarse);
    add(StreamAccess::tma, StreamShape::all, coarse);
  }
  return points;
}

std::span<const L2Counter> stream_counters() {
  return counters;
}

}  // namespace sawtooth::experiments
