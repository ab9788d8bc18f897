#include <algorithm>
#include <cmath>
#include <utility>

#include "experiments/sawtooth/calibrate/stream_figures.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using cupti::L2Counter;
using kernels::StreamAccess;

constexpr std::array counter_columns = std::to_array<std::pair<const char*, L2Counter>>({
    {"tex_read", L2Counter::l2_read},
    {"tex_miss", L2Counter::l2_read_miss},
    {"tex_write", L2Counter::l2_write},
    {"tex_write_miss", L2Counter::l2_write_miss},
    {"all_read", L2Counter::all_read},
    {"all_miss", L2Counter::all_read_miss},
    {"fab_read", L2Counter::fabric_read},
    {"fab_hit", L2Counter::fabric_read_hit},
    {"fab_miss", L2Counter::fabric_read_miss},
    {"fill_dev", L2Counter::fill_device},
    {"fill_sys", L2Counter::fill_system},
    {"dram_read", L2Counter::dram_read},
    {"dram_write", L2Counter::dram_write},
    {"l1_xbar", L2Counter::sm_read},
    {"lrc_in", L2Counter::coalescer_in},
    {"lrc_out", L2Counter::coalescer_out},
    {"lrc_shared", L2Counter::coalescer_shared},
    {"time_ns", L2Counter::duration_ns},
});
constexpr std::array<std::string_view, 2> pattern_names{"linear", "sawtooth"};

TypedColumns<StreamRow> stream_columns() {
  using R = StreamRow;
  TypedColumns<R> columns{
      {"kind", [](R& r) { return named(kernels::stream_access_names, r.point.access); }},
      {"n_mib", &R::point, &StreamPoint::mib},
      {"pattern", [](R& r) { return named(pattern_names, r.point.reversed); }},
      {"map", [](R& r) { return named(stream_shape_names, r.point.shape); }},
      {"range", &R::range},
      {"repetition", &R::repetition},
      {"expected", &R::expected_sectors}};
  for (const auto& [name, counter] : counter_columns)
    columns.push_back({name, [counter = counter](R& r) { return &r.count(counter); }});
  columns.push_back({"dram_read_by_pass", &R::dram_read_by_pass});
  columns.push_back({"l1_xbar_by_pass", &R::sm_read_by_pass});
  columns.push_back({"replay_passes", &R::replay_passes});
  columns.push_back({"wall_ms", &R::wall_ms});
  return columns;
}

// Chosen on a 60 MiB L2; other sizes of L2 scale them.
constexpr int64_t reference_l2_mib = 60;
constexpr std::array<int64_t, 14> reference_sizes{8,  16, 24, 28, 32, 36, 40,
                                                  44, 48, 56, 64, 80, 96, 128};
constexpr std::array<int64_t, 7> coarse_sizes{8, 16, 32, 40, 48, 64, 96};

std::vector<int64_t> scaled_mib(std::span<const int64_t> references, int64_t l2_bytes) {
  const double share = double(l2_bytes) / double(reference_l2_mib * mib_bytes);
  std::vector<int64_t> sizes;
  for (const int64_t reference : references)
    sizes.push_back(std::max<int64_t>(1, std::llround(double(reference) * share)));
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

constexpr std::array counters{
    L2Counter::l2_read_miss,  L2Counter::fabric_read_miss, L2Counter::all_read_miss,
    L2Counter::l2_write_miss, L2Counter::dram_write,       L2Counter::l2_read,
    L2Counter::fabric_read,   L2Counter::all_read,         L2Counter::l2_write,
    L2Counter::coalescer_in,  L2Counter::coalescer_out,    L2Counter::coalescer_shared,
    L2Counter::fill_device,   L2Counter::fill_system,      L2Counter::fabric_read_hit,
};

}  // namespace

std::string name_of(const StreamPoint& point) {
  return std::string(kernels::stream_access_names[static_cast<size_t>(point.access)]) + " " +
         std::string(stream_shape_names[static_cast<size_t>(point.shape)]) +
         (point.reversed ? " reversed " : " linear ") + std::to_string(point.mib) + " MiB";
}

std::optional<int64_t> dram_reads(const StreamRow& row) {
  if (const auto dram = row.count(L2Counter::dram_read)) return dram;
  const auto device = row.count(L2Counter::fill_device);
  if (!device) return std::nullopt;
  return *device + row.count(L2Counter::fill_system).value_or(0);
}

std::vector<Repetitions> repetitions_of(const std::vector<StreamRow>& rows) {
  std::vector<Repetitions> points;
  for (const StreamRow& row : rows) {
    const auto known = std::ranges::find_if(points, [&](const Repetitions& one) {
      return one.front()->point == row.point && one.front()->range == row.range;
    });
    (known == points.end() ? points.emplace_back() : *known).push_back(&row);
  }
  return points;
}

std::string stream_csv(const std::vector<StreamRow>& rows) {
  return typed_csv(rows, stream_columns());
}

std::vector<StreamRow> read_stream_csv(const std::string& path) {
  const CsvTable table = read_csv(path);
  const TypedColumns<StreamRow> columns = stream_columns();
  std::vector<StreamRow> rows;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    StreamRow& row = rows.emplace_back(typed_row(table, i, columns));
    row.buffer_sectors = row.point.mib * mib_bytes / sector_bytes;
  }
  if (rows.empty()) throw UsageError(path + ": no rows of calibration streams");
  return rows;
}

std::vector<int64_t> stream_sizes_mib(int64_t l2_bytes) {
  return scaled_mib(reference_sizes, l2_bytes);
}

std::vector<StreamPoint> stream_points(int64_t l2_bytes, bool tma) {
  std::vector<StreamPoint> points;
  const auto add = [&](StreamAccess access, StreamShape shape, const std::vector<int64_t>& sizes) {
    for (const int64_t mib : sizes)
      for (const bool reversed : {false, true}) points.push_back({access, shape, reversed, mib});
  };
  const std::vector<int64_t> fine = stream_sizes_mib(l2_bytes),
                             coarse = scaled_mib(coarse_sizes, l2_bytes);
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
