#include "sim/halves/parameters.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace sawtooth::sim {
namespace {

void require(bool good, const char* name, double value, const char* allowed) {
  if (good) return;
  throw std::invalid_argument(std::string("halves: ") + name + " = " + std::to_string(value) +
                              ", allowed: " + allowed);
}

}  // namespace

void check(const HalvesParameters& p) {
  require(p.halves == 1 || p.halves == 2, "halves", p.halves, "1 or 2");
  require(p.capacity_lines > 0, "capacity_lines", double(p.capacity_lines), "1 or more");
  require(p.ways >= 0 && p.ways <= 256, "ways", p.ways, "0 (off) to 256");
  require(p.ways <= p.capacity_lines, "ways", p.ways, "at most the capacity in lines");
  require(p.dirty_ways >= 0 && p.dirty_ways <= p.ways, "dirty_ways", p.dirty_ways,
          "0 (all) to the ways");
  require(p.reserved >= 0 && p.reserved * std::max(p.ways, 2) < 1, "reserved", p.reserved,
          "0 to below 1 / ways");
  require(p.ways != 1 || p.reserved == 0, "reserved", p.reserved, "0 with one way");
  require(p.scattered >= 0 && p.scattered <= 1, "scattered", p.scattered, "0 to 1");
  require(p.far_first_waiting >= 0 && p.far_first_waiting <= 1, "far_first_waiting",
          p.far_first_waiting, "0 to 1");
  require(p.far_first_running >= 0 && p.far_first_running <= 1, "far_first_running",
          p.far_first_running, "0 to 1");
  require(p.running_share > 0 && p.running_share <= 1, "running_share", p.running_share,
          "above 0 to 1");
}

}  // namespace sawtooth::sim
