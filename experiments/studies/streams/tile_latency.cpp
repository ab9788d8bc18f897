// tile_latency FILE [ROUNDS]: the time of whole tiles from request to last line, one row a case:
// 1 to 132 SMs in step ask for a tile each or for the same one, of lines that an SM of their own
// half of L2 has read (near), only SMs of the other half (far), none (dram), or another SM
// `ahead_ns` before (coming). About a minute on an H200.
#include "kernels/stream/tile_latency.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace sawtooth::kernels {
namespace {

constexpr int64_t kib = 1024;

/// The value that a share of the sorted values does not exceed, between two neighbours by share.
double quantile(const std::vector<float>& sorted, double share) {
  const double place = share * double(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - double(below)) * (sorted[above] - sorted[below]);
}

void write_row(std::ostream& out, const TileCase& what, int rounds, TileTimes times) {
  std::vector<float> slowest;  // of each round
  for (int round = 0; round < rounds; ++round) {
    const auto begin = times.ns.begin() + std::ptrdiff_t{round} * times.readers;
    slowest.push_back(*std::max_element(begin, begin + times.readers));
  }
  std::sort(times.ns.begin(), times.ns.end());
  std::sort(slowest.begin(), slowest.end());
  out << "cp.async," << what.tile_bytes / kib << ',' << what.readers << ','
      << (what.same_tile ? "same" : "own") << ',' << tile_place_names[size_t(what.place)]
      << ",0,none," << rounds;
  for (const double share : {0.0, 0.1, 0.5, 0.9, 0.99})
    out << ',' << std::lround(quantile(times.ns, share));
  for (const double share : {0.5, 0.9}) out << ',' << std::lround(quantile(slowest, share));
  out << '\n';
}

void run(const char* path, int rounds) {
  SmRanks sms;
  TileLatency tiles(sms);
  std::ofstream out(path);
  out << "load,tile_kib,readers,tiles,place,ahead_ns,background,rounds,min_ns,p10_ns,median_ns,"
         "p90_ns,p99_ns,slowest_median_ns,slowest_p90_ns\n";
  for (const int64_t tile_kib : {4, 8, 16, 32, 64})
    for (const int readers : {1, 2, 8, 33, 66, 132})
      for (const bool same : {false, true})
        for (const TilePlace place : {TilePlace::near, TilePlace::dram}) {
          const TileCase what{tile_kib * kib, readers, same, place};
          if ((same && readers == 1) || readers > sms.count()) continue;
          // Own tiles of many readers are fewer rounds, so that all of them are new.
          const int64_t tile_count = same ? 1 : readers;
          const int now = std::min(
              rounds, static_cast<int>((int64_t{2} << 30) / (tile_kib * kib * tile_count)));
          if (readers == 1 && tile_kib == 4 && place == TilePlace::near) tiles.run(what, now);
          write_row(out, what, now, tiles.run(what, now));
        }
  if (!out.flush()) throw std::runtime_error(std::string(path) + ": cannot be written");
}

}  // namespace
}  // namespace sawtooth::kernels

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: tile_latency FILE [ROUNDS]\n";
    return 2;
  }
  try {
    sawtooth::kernels::run(argv[1], argc == 3 ? std::atoi(argv[2]) : 200);
    return 0;
  } catch (const sawtooth::kernels::CudaError& error) {
    std::cerr << "tile_latency: " << error.what() << '\n';
    return error.no_device() ? 3 : 1;
  } catch (const std::exception& error) {
    std::cerr << "tile_latency: " << error.what() << '\n';
    return 1;
  }
}
