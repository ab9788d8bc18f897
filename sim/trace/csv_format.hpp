// The columns of a trace as CSV (docs/reference/formats.md).
#pragma once

#include <array>
#include <string_view>

namespace sawtooth::sim {

enum class TraceColumn { step, worker, times, access, tensor, line, lines, sectors, direction };
inline constexpr auto trace_columns = std::to_array<std::string_view>(
    {"step", "worker", "times", "access", "tensor", "line", "lines", "sectors", "direction"});
inline constexpr auto direction_names = std::to_array<std::string_view>({"forwards", "backwards"});

}  // namespace sawtooth::sim
