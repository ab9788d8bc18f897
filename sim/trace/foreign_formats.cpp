#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "scheduler/memory_units.hpp"
#include "sim/trace/checks.hpp"
#include "sim/trace/readers.hpp"

namespace sawtooth::sim {
namespace {

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
  for (std::string_view& cell : cells) cell = without_blanks(cell);
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
  for (uint64_t at = address / line; at <= (address + bytes - 1) / line; ++at)
    if (std::find(lines.begin(), lines.end(), at) == lines.end()) lines.push_back(at);
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
      return is_address(name) || is_cta(name) || name == "size";
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
      add_bytes(access.lines, number(cells[*address_], "address"), bytes);
    }
    return true;
  }
  bool has_streams() const override { return cta_.has_value() && !step_; }

 private:
  static bool is_address(std::string_view name) { return name == "address" || name == "addr"; }
  static bool is_cta(std::string_view name) { return name == "cta" || name == "block"; }

  void read_header(const Words& names) {
    columns_ = names.size();
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string_view name = names[i];
      std::optional<size_t>* column = is_address(name)                   ? &address_
                                      : name == "line"                   ? &line_
                                      : is_cta(name)                     ? &cta_
                                      : name == "access" || name == "op" ? &op_
                                      : name == "size"                   ? &size_
                                      : name == "step"                   ? &step_
                                                                         : nullptr;
      if (column == nullptr) continue;
      if (*column) throw std::invalid_argument("column " + quoted(name) + " is there twice");
      *column = i;
    }
    if (address_.has_value() == line_.has_value())
      throw std::invalid_argument("one column of address (bytes) and line (128 bytes) is needed");
  }

  static Access access_named(std::string_view text) {
    for (const std::string_view read : {"read", "r", "R", "load", "ld", "0"})
      if (text == read) return Access::read;
    for (const std::string_view write : {"write", "w", "W", "store", "st", "1"})
      if (text == write) return Access::write;
    throw std::invalid_argument("access " + quoted(text) +
                                " is not allowed; allowed: read, r, load, ld, 0, write, w, store, "
                                "st, 1");
  }

  size_t columns_ = 0;
  std::optional<size_t> address_, line_, cta_, op_, size_, step_;
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

}  // namespace

std::unique_ptr<ForeignFormat> foreign_format(std::string_view first_line) {
  if (MemTraceFormat::begins(first_line)) return std::make_unique<MemTraceFormat>();
  if (AccelSimFormat::begins(first_line)) return std::make_unique<AccelSimFormat>();
  if (DineroFormat::begins(first_line)) return std::make_unique<DineroFormat>();
  if (ColumnsFormat::begins(first_line)) return std::make_unique<ColumnsFormat>();
  return nullptr;
}

}  // namespace sawtooth::sim
