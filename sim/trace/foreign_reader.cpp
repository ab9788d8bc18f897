#include <algorithm>
#include <bit>
#include <charconv>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "scheduler/memory_units.hpp"
#include "sim/trace/readers.hpp"

namespace sawtooth::sim {
namespace {

/// One record: a warp's instruction, or a row.
struct ForeignAccess {
  uint64_t launch = 0;
  std::array<uint32_t, 3> cta{};  // x, y, z
  uint32_t warp = 0;
  Access access = Access::read;
  std::vector<uint64_t> lines;  // of 128 bytes, each once, in the order of the threads
};

class ForeignFormat {
 public:
  virtual ~ForeignFormat() = default;
  /// Reads one line of text; false when it holds no access. Throws std::invalid_argument, with what
  /// is wrong, for a line that the format does not have.
  virtual bool parse(std::string_view line, ForeignAccess& access) = 0;
  /// The trace names CTAs but not times, so that CTAs are streams of their own.
  virtual bool has_streams() const = 0;
  /// Warps of a CTA follow each other in the file although they ran side by side.
  virtual bool warps_apart() const { return false; }
};

using Words = std::vector<std::string_view>;

Words split(std::string_view text, std::string_view separators) {
  Words words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string_view without_blanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

Words trimmed_cells_of(std::string_view row) {
  Words cells = cells_of(row);
  for (std::string_view& cell : cells) {
    cell = without_blanks(cell);
    if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"')
      cell = cell.substr(1, cell.size() - 2);
  }
  return cells;
}

uint64_t number(std::string_view text, std::string_view what, int base = 10) {
  const std::string_view all = text;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::invalid_argument(std::string(what) + " " + quoted(all) + " is no number");
  return value;
}

void add_bytes(std::vector<uint64_t>& lines, uint64_t address, uint64_t bytes) {
  constexpr uint64_t most_bytes = uint64_t{1} << 20;
  if (bytes < 1 || bytes > most_bytes || address > UINT64_MAX - bytes)
    throw std::invalid_argument("an access of " + std::to_string(bytes) + " bytes");
  constexpr auto line = static_cast<uint64_t>(line_bytes);
  const auto before = static_cast<std::ptrdiff_t>(lines.size());
  for (uint64_t at = address / line; at <= (address + bytes - 1) / line; ++at) {
    const auto end = lines.begin() + before;
    if (std::find(lines.begin(), end, at) == end) lines.push_back(at);
  }
}

uint32_t small_number(std::string_view text, std::string_view what) {
  const uint64_t value = number(text, what);
  if (value > UINT32_MAX)
    throw std::invalid_argument(std::string(what) + " " + quoted(text) + " is not below 2^32");
  return static_cast<uint32_t>(value);
}

/// Whether an opcode of SASS reaches L2, and how: shared, local and constant memory do not count.
std::optional<Access> access_of(std::string_view opcode) {
  const std::string_view name = opcode.substr(0, opcode.find('.'));
  if (name == "LD" || name == "LDG" || name == "LDGSTS") return Access::read;
  if (name == "ST" || name == "STG" || name == "RED" || name == "REDG" || name == "ATOM" ||
      name == "ATOMG")
    return Access::write;
  return std::nullopt;
}

std::array<uint32_t, 3> cta_of(std::string_view text) {
  const Words parts = split(text, ",");
  if (parts.size() != 3) throw std::invalid_argument("CTA " + quoted(text) + " is not x,y,z");
  std::array<uint32_t, 3> cta{};
  for (size_t i = 0; i < 3; ++i) cta[i] = small_number(parts[i], "CTA");
  return cta;
}

class ColumnsFormat : public ForeignFormat {
 public:
  static bool begins(std::string_view header) {
    const Words names = trimmed_cells_of(header);
    return std::any_of(names.begin(), names.end(), [](std::string_view name) {
      return is_address(name) || is_object(name) || is_cta(name) || name == "size";
    });
  }
  bool parse(std::string_view row, ForeignAccess& access) override {
    const Words cells = trimmed_cells_of(row);
    if (columns_ == 0) {
      read_header(cells);
      return false;
    }
    if (cells.size() != columns_)
      throw std::invalid_argument(std::to_string(cells.size()) + " cells; the header has " +
                                  std::to_string(columns_));
    access.cta = {cta_ ? small_number(cells[*cta_], "CTA") : 0, 0, 0};
    access.access = op_ ? access_named(cells[*op_]) : Access::read;
    if (line_) {
      access.lines = {number(cells[*line_], "line")};
      if (access.lines.front() >= trace_lines)
        throw std::invalid_argument("line " + quoted(cells[*line_]) + " is not below 2^57");
    } else {
      const uint64_t bytes = size_ ? number(cells[*size_], "size") : 1;
      add_bytes(access.lines,
                address_ ? number(cells[*address_], "address") : place_of(cells[*object_], bytes),
                bytes);
    }
    return true;
  }
  bool has_streams() const override { return cta_.has_value() && !step_; }

 private:
  static bool is_address(std::string_view name) { return name == "address" || name == "addr"; }
  static bool is_object(std::string_view name) { return name == "obj" || name == "obj_id"; }
  static bool is_cta(std::string_view name) { return name == "cta" || name == "block"; }

  void read_header(const Words& names) {
    columns_ = names.size();
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string_view name = names[i];
      std::optional<size_t>* column = is_address(name)                   ? &address_
                                      : name == "line"                   ? &line_
                                      : is_object(name)                  ? &object_
                                      : is_cta(name)                     ? &cta_
                                      : name == "access" || name == "op" ? &op_
                                      : name == "size"                   ? &size_
                                      : name == "step" || name == "time" ? &step_
                                                                         : nullptr;
      if (column == nullptr) continue;
      if (*column) throw std::invalid_argument("column " + quoted(name) + " is there twice");
      *column = i;
    }
    if (address_.has_value() + line_.has_value() + object_.has_value() != 1)
      throw std::invalid_argument(
          "one column of address (bytes), line (128 bytes) and obj (a name) is needed");
  }

  // Objects lie behind each other, and one that has grown lies at a new place.
  uint64_t place_of(std::string_view object, uint64_t bytes) {
    auto& [address, room] = objects_[std::string(object)];
    if (bytes > room) {
      constexpr auto line = static_cast<uint64_t>(line_bytes);
      room = (bytes + line - 1) / line * line;
      address = std::exchange(next_object_, next_object_ + room);
    }
    return address;
  }

  static Access access_named(std::string_view text) {
    for (const std::string_view read : {"read", "r", "R", "load", "ld", "get", "0"})
      if (text == read) return Access::read;
    for (const std::string_view write : {"write", "w", "W", "store", "st", "set", "1"})
      if (text == write) return Access::write;
    throw std::invalid_argument("access " + quoted(text) +
                                " is not allowed; allowed: read, r, load, ld, get, 0, write, w, "
                                "store, st, set, 1");
  }

  size_t columns_ = 0;
  std::optional<size_t> address_, line_, object_, cta_, op_, size_, step_;
  std::unordered_map<std::string, std::pair<uint64_t, uint64_t>> objects_;  // address, room
  uint64_t next_object_ = 0;
};

/// "0 1f80": read (0), write (1) or instruction fetch (2), and a byte address in hexadecimal.
class DineroFormat : public ForeignFormat {
 public:
  static bool begins(std::string_view line) {
    const Words words = split(line, " \t\r");
    return words.size() >= 2 && words[0].size() == 1 && words[0][0] >= '0' && words[0][0] <= '2';
  }
  bool parse(std::string_view line, ForeignAccess& access) override {
    const Words words = split(line, " \t\r");
    if (!begins(line))
      throw std::invalid_argument(quoted(line) + " is not 0, 1 or 2 and an address");
    access.access = words[0] == "1" ? Access::write : Access::read;
    add_bytes(access.lines, number(words[1], "address", 16), 1);
    return true;
  }
  bool has_streams() const override { return false; }
};

/// "CTX 0x.. - grid_launch_id 0 - CTA 1,0,0 - warp 3 - LDG.E.128 - 0x.. 0x.. ..", 32 addresses, 0
/// for threads that do nothing; lines about launches and of the program stand between.
class MemTraceFormat : public ForeignFormat {
 public:
  static bool begins(std::string_view line) {
    return line.starts_with("MEMTRACE:") || line.starts_with("CTX 0x");
  }
  bool parse(std::string_view line, ForeignAccess& access) override {
    if (line.find(" - CTA ") == std::string_view::npos) return false;
    const Words words = split(line, " \t\r");
    const auto after = [&](std::string_view word) {
      const auto found = std::find(words.begin(), words.end(), word);
      if (found == words.end() || found + 1 == words.end())
        throw std::invalid_argument("'" + std::string(word) + "' is missing");
      return found + 1;
    };
    access.launch = number(*after("grid_launch_id"), "launch");
    access.cta = cta_of(*after("CTA"));
    const auto warp = after("warp");
    access.warp = small_number(*warp, "warp");
    if (words.end() - warp < 5) throw std::invalid_argument("the addresses are missing");
    const auto kind = access_of(*(warp + 2));
    if (!kind) return false;
    access.access = *kind;
    for (auto at = warp + 4; at != words.end(); ++at) {
      const uint64_t address = number(*at, "address", 16);
      if (address != 0) add_bytes(access.lines, address, 1);
    }
    return !access.lines.empty();
  }
  bool has_streams() const override { return true; }
};

/// "-key = value" lines, then CTAs ("thread block = 0,0,0"), their warps ("warp = 0", "insts = 9")
/// and instructions: PC mask n [registers] opcode n [registers] width [mode addresses].
class AccelSimFormat : public ForeignFormat {
 public:
  static bool begins(std::string_view line) { return line.starts_with("-kernel name"); }
  bool parse(std::string_view line, ForeignAccess& access) override {
    if (line.starts_with("-enable lineinfo = 1")) leading_ = 1;
    if (line.starts_with("-") || line.starts_with("#") || line.starts_with("insts")) return false;
    if (line.starts_with("thread block = ")) {
      cta_ = cta_of(line.substr(line.find('=') + 2));
      return false;
    }
    if (line.starts_with("warp = ")) {
      warp_ = small_number(line.substr(line.find('=') + 2), "warp");
      return false;
    }
    words_ = split(line, " \t\r");
    next_ = leading_ + 1;  // behind the PC
    const uint64_t mask = number(take("mask"), "mask", 16);
    next_ += small_number(take("number of registers"), "number of registers");
    const std::string_view opcode = take("opcode");
    next_ += small_number(take("number of registers"), "number of registers");
    const uint64_t width = number(take("width"), "width");
    const auto kind = access_of(opcode);
    if (width == 0 || !kind) return false;
    access.cta = cta_;
    access.warp = warp_;
    access.access = *kind;
    constexpr uint64_t most_width = 1024;  // a thread's; SASS has 16
    if (width > most_width)
      throw std::invalid_argument("a width of " + std::to_string(width) + " bytes; allowed: 1 to " +
                                  std::to_string(most_width));
    add_addresses(access.lines, std::popcount(mask), width);
    return !access.lines.empty();
  }
  bool has_streams() const override { return true; }
  bool warps_apart() const override { return true; }

 private:
  std::string_view take(const char* what) {
    if (next_ >= words_.size())
      throw std::invalid_argument(std::string("the ") + what + " is missing");
    return words_[next_++];
  }

  // All addresses, a first one and a stride, or a first one and differences.
  void add_addresses(std::vector<uint64_t>& lines, int threads, uint64_t width) {
    const std::string_view mode = take("address mode");
    if (mode != "0" && mode != "1" && mode != "2")
      throw std::invalid_argument("address mode " + quoted(mode) + " is not 0, 1 or 2");
    uint64_t address = 0, stride = 0;
    for (int thread = 0; thread < threads; ++thread) {
      if (thread == 0 || mode == "0")
        address = number(take("address"), "address", 16);
      else if (mode == "2")
        address += signed_number(take("difference"));
      else if (thread == 1)
        address += stride = signed_number(take("stride"));
      else
        address += stride;
      add_bytes(lines, address, width);
    }
  }
  static uint64_t signed_number(std::string_view text) {
    const bool minus = text.starts_with("-");
    const uint64_t value = number(minus ? text.substr(1) : text, "difference");
    return minus ? uint64_t{0} - value : value;
  }

  size_t leading_ = 0;  // a source line in front of the PC
  std::array<uint32_t, 3> cta_{};
  uint32_t warp_ = 0;
  Words words_;
  size_t next_ = 0;
};

/// The format of a text that begins with this line; null when it is none of them.
std::unique_ptr<ForeignFormat> foreign_format(std::string_view first_line) {
  if (MemTraceFormat::begins(first_line)) return std::make_unique<MemTraceFormat>();
  if (AccelSimFormat::begins(first_line)) return std::make_unique<AccelSimFormat>();
  if (DineroFormat::begins(first_line)) return std::make_unique<DineroFormat>();
  if (ColumnsFormat::begins(first_line)) return std::make_unique<ColumnsFormat>();
  return nullptr;
}

constexpr size_t longest_row = 4096;  // 32 addresses and what belongs to them

class ForeignReader : public TraceReader {
 public:
  ForeignReader(std::istream& in, const std::string& name, std::unique_ptr<ForeignFormat> format,
                const TraceLimits& limits, uint32_t workers)
      : lines_(in, name, longest_row),
        format_(std::move(format)),
        limits_(limits),
        workers_(workers) {}
  bool next(TraceVisit& visit) override {
    if (!begun_) {
      begun_ = true;
      // Columns say whether there are streams, so the first access comes first.
      if (!read_access()) return false;
      lockstep_ = format_->has_streams();
      lockstep_ ? read_streams() : make_access_ready();
    } else if (ready_.empty()) {
      ++step_;
    }
    while (ready_.empty()) {
      if (!(lockstep_ ? refill() : read_access())) return false;
      if (!lockstep_) make_access_ready();
    }
    Ready& first = ready_.front();
    visit = {.atom = first.atom++, .access = first.access, .worker = first.worker, .step = step_};
    if (--first.atoms == 0) ready_.pop_front();
    const std::string fault = totals_.add(visit, atoms_[visit.atom]);
    if (!fault.empty()) lines_.fail(fault);
    return true;
  }
  const TraceAtoms& atoms() const override { return atoms_; }
  const std::string& description() const override { return description_; }

 private:
  // Accesses of neighbouring atoms at equal distances: access i is to `atoms` of them from first +
  // i x stride on.
  struct Run {
    AtomId first = 0;
    uint32_t stride = 0;  // modulo 2^32
    uint32_t times = 1;
    uint16_t atoms = 1;
    Access access = Access::read;
    bool goes_on = false;  // a further part of the access before
  };
  struct Warp {
    std::vector<Run> runs;
    size_t next = 0;         // run,
    uint32_t next_time = 0;  // and access of it
  };
  struct Stream {
    uint64_t launch = 0;
    std::vector<Warp> warps;
    size_t next = 0;  // warp: they take turns
  };

  bool read_access() {
    while (lines_.next()) {
      access_ = {};
      try {
        if (format_->parse(lines_.line(), access_)) return true;
      } catch (const std::invalid_argument& error) {
        lines_.fail(error.what());
      }
    }
    return false;
  }

  std::vector<Run> runs_of_access() {
    std::vector<Run> runs;
    for (const uint64_t line : access_.lines) {
      AtomId atom = index_.find_after(last_atom_, line);
      if (atom == AtomIndex::none) {
        if (atoms_.size() >= limits_.atoms) lines_.fail(too_many_atoms(limits_));
        atom = static_cast<AtomId>(atoms_.size());
        atoms_.push_back({.first_line = line});
        index_.add_last();
      }
      last_atom_ = atom;
      if (!runs.empty() && atom == runs.back().first + runs.back().atoms)
        ++runs.back().atoms;
      else
        runs.push_back({.first = atom, .access = access_.access, .goes_on = !runs.empty()});
    }
    return runs;
  }

  void keep(Warp& warp, const std::vector<Run>& access) {
    constexpr uint64_t runs_of_a_warp = 12;  // take as much memory as what stands for it
    const Run& now = access.front();
    if (warp.runs.empty()) {
      kept_runs_ += runs_of_a_warp;
    } else if (Run& last = warp.runs.back(); access.size() == 1 && !last.goes_on &&
                                             last.atoms == now.atoms && last.access == now.access) {
      if (last.times == 1) last.stride = now.first - last.first;
      if (last.times < UINT32_MAX && now.first == last.first + last.times * last.stride) {
        ++last.times;
        return;
      }
    }
    kept_runs_ += access.size();
    if (kept_runs_ > uint64_t{2} * limits_.atoms)
      lines_.fail("more than " + std::to_string(2 * uint64_t{limits_.atoms}) +
                  " runs of accesses; --most-atoms raises the limit");
    warp.runs.insert(warp.runs.end(), access.begin(), access.end());
  }

  void read_streams() {  // from the access that was read last on
    using Cta = std::tuple<uint64_t, uint32_t, uint32_t, uint32_t>;  // launch, z, y, x
    std::map<Cta, std::map<uint32_t, Warp>> found;
    do {
      const auto& [x, y, z] = access_.cta;
      const uint32_t warp = format_->warps_apart() ? access_.warp : 0;
      keep(found[{access_.launch, z, y, x}][warp], runs_of_access());
    } while (read_access());
    for (auto& [cta, warps] : found) {
      Stream& stream = streams_.emplace_back();
      stream.launch = std::get<0>(cta);
      for (auto& [number, warp] : warps) stream.warps.push_back(std::move(warp));
      warps.clear();
    }
    const size_t workers =
        workers_ == 0 ? streams_.size() : std::min<size_t>(workers_, streams_.size());
    for (uint32_t worker = 0; worker < workers; ++worker) idle_.insert(idle_.end(), worker);
  }

  void make_ready(const Run& run, uint32_t time, uint32_t worker) {
    ready_.push_back({run.first + time * run.stride, run.atoms, run.access, worker});
  }

  void make_access_ready() {  // in the order of the file
    for (const Run& run : runs_of_access()) make_ready(run, 0, access_.cta[0]);
  }

  // Makes the stream's next access ready; false when it was its last one.
  bool next_access(Stream& stream, uint32_t worker) {
    Warp& warp = stream.warps[stream.next];
    make_ready(warp.runs[warp.next], warp.next_time, worker);
    if (++warp.next_time == warp.runs[warp.next].times) {
      warp.next_time = 0;
      for (++warp.next; warp.next < warp.runs.size() && warp.runs[warp.next].goes_on; ++warp.next)
        make_ready(warp.runs[warp.next], 0, worker);
    }
    if (warp.next == warp.runs.size())
      stream.warps.erase(stream.warps.begin() + static_cast<std::ptrdiff_t>(stream.next));
    else
      ++stream.next;
    if (stream.next == stream.warps.size()) stream.next = 0;
    return !stream.warps.empty();
  }

  // One step: every CTA in flight makes an access.
  bool refill() {
    while (!idle_.empty() && next_stream_ < streams_.size()) {
      const bool same_launch =
          next_stream_ == 0 || streams_[next_stream_].launch == streams_[next_stream_ - 1].launch;
      if (!busy_.empty() && !same_launch) break;
      busy_.emplace(*idle_.begin(), next_stream_++);
      idle_.erase(idle_.begin());
    }
    for (auto at = busy_.begin(); at != busy_.end();) {
      if (next_access(streams_[at->second], at->first)) {
        ++at;
        continue;
      }
      streams_[at->second].warps.shrink_to_fit();
      idle_.insert(at->first);
      at = busy_.erase(at);
    }
    return !ready_.empty();
  }

  TextLines lines_;
  std::unique_ptr<ForeignFormat> format_;
  TraceLimits limits_;
  uint32_t workers_;
  ForeignAccess access_;
  TraceAtoms atoms_;
  AtomIndex index_{atoms_};
  AtomId last_atom_ = 0;
  TraceTotals totals_;
  std::string description_;
  bool begun_ = false, lockstep_ = false;

  struct Ready {
    AtomId atom;  // and further ones
    uint32_t atoms;
    Access access;
    uint32_t worker;
  };
  std::deque<Ready> ready_;
  uint64_t step_ = 0;

  std::vector<Stream> streams_;  // in the order in which CTAs start
  size_t next_stream_ = 0;
  std::map<uint32_t, size_t> busy_;  // worker -> stream
  std::set<uint32_t> idle_;
  uint64_t kept_runs_ = 0;
};

}  // namespace

std::unique_ptr<TraceReader> foreign_reader(std::istream& in, const std::string& name,
                                            std::string_view first_line, const TraceLimits& limits,
                                            uint32_t workers) {
  auto format = foreign_format(first_line);
  if (!format) return nullptr;
  return std::make_unique<ForeignReader>(in, name, std::move(format), limits, workers);
}

}  // namespace sawtooth::sim
