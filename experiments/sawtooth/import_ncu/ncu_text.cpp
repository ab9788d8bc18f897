// The text of a table of Nsight Compute: encodings, separators, notations of numbers, and units.
#include <algorithm>

#include "experiments/sawtooth/import_ncu/ncu_report.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view utf16_little = "\xFF\xFE", utf16_big = "\xFE\xFF";

// Halves of surrogate pairs, which only names have, stay apart.
std::string as_utf8(std::string_view bytes) {
  if (bytes.starts_with(byte_order_mark)) bytes.remove_prefix(byte_order_mark.size());
  const bool is_big = bytes.starts_with(utf16_big);
  if (!is_big && !bytes.starts_with(utf16_little)) return std::string(bytes);
  std::string text;
  for (size_t i = utf16_big.size(); i + 1 < bytes.size(); i += 2) {
    const auto first = static_cast<uint8_t>(bytes[i]), second = static_cast<uint8_t>(bytes[i + 1]);
    const unsigned unit = is_big ? first * 256u + second : second * 256u + first;
    if (unit < 0x80) {
      text += static_cast<char>(unit);
      continue;
    }
    if (unit >= 0x800) text += static_cast<char>(0xE0 | (unit >> 12));
    text += static_cast<char>(unit < 0x800 ? 0xC0 | (unit >> 6) : 0x80 | ((unit >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (unit & 0x3F));
  }
  return text;
}

void exchange(std::string& text, char one, char other) {
  for (char& c : text) c = c == one ? other : c == other ? one : c;
}

// Digits and a point; empty for what is no number. Groups of thousands have three digits, and
// stand apart by the mark that is not the decimal one, by blanks or by apostrophes.
std::string plain_digits(std::string text, char decimal_mark) {
  for (const std::string_view blank : {" ", "'", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x99"})
    for (size_t at = 0; (at = text.find(blank)) != std::string::npos;) text.erase(at, blank.size());
  if (decimal_mark == ',') exchange(text, ',', '.');
  constexpr size_t digits_of_a_group = 3;
  const size_t end = std::min(text.find('.'), text.size());
  for (size_t at = text.find(','); at != std::string::npos; at = text.find(',', at + 1))
    if (at == 0 || at > end || std::min(text.find(',', at + 1), end) != at + 1 + digits_of_a_group)
      return "";
  std::erase(text, ',');
  return text;
}

struct Unit {
  double factor;
  std::string base;
};

// Both spellings of ncu, old and new: nsecond and ns.
Unit simple_base(std::string_view unit) {
  constexpr std::string_view bases[] = {"byte",    "sector", "cycle", "inst",
                                        "request", "second", "s"};
  constexpr std::pair<char, double> prefixes[] = {{'n', 1e-9}, {'u', 1e-6}, {'m', 1e-3}, {'K', 1e3},
                                                  {'M', 1e6},  {'G', 1e9},  {'T', 1e12}};
  double factor = 1;
  for (const auto& [sign, power] : prefixes)
    if (unit.starts_with(sign) && std::ranges::count(bases, unit.substr(1)) > 0) factor = power;
  if (factor != 1) unit.remove_prefix(1);
  return {factor, std::string(unit == "s" ? "second" : unit)};
}

Unit base_of(std::string_view unit) {
  const size_t slash = unit.find('/');
  if (slash == std::string_view::npos) return simple_base(unit);
  const Unit above = simple_base(unit.substr(0, slash)),
             below = simple_base(unit.substr(slash + 1));
  return {above.factor / below.factor, above.base + "/" + below.base};
}

}  // namespace

NcuTable ncu_table(std::string_view bytes, const std::string& path) {
  const std::string text = as_utf8(bytes);
  NcuTable table;
  std::string rows;
  bool inside = false;
  int line = 0;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view one = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    for (const std::string_view header : {"\"ID\",", "ID,", "\"ID\";", "ID;"}) {
      if (inside || !one.starts_with(header)) continue;
      inside = true;
      table.lines_before = line;
      table.decimal_mark = header.ends_with(';') ? ',' : '.';
    }
    if (!inside) continue;
    if (!one.starts_with("==")) rows.append(one);
    rows += '\n';
  }
  if (!inside)
    throw UsageError(path +
                     ": has no line that begins with \"ID\"; write the report with `ncu --csv "
                     "--page raw`");
  if (table.decimal_mark == '.') {
    table.csv = parse_csv(rows, path);
    return table;
  }
  // The parts of a table parted by commas, and commas in its cells afterwards.
  exchange(rows, ',', ';');
  table.csv = parse_csv(rows, path);
  for (std::string& cell : table.csv.header) exchange(cell, ',', ';');
  for (CsvRow& row : table.csv.rows)
    for (std::string& cell : row) exchange(cell, ',', ';');
  return table;
}

NcuValue ncu_value(const std::string& cell, std::string_view unit, char decimal_mark) {
  NcuValue value{cell, std::string(unit), {}};
  const std::string digits = plain_digits(cell, decimal_mark);
  const auto number = number_of<double>(digits);
  if (!number) return value;
  const Unit base = base_of(unit);
  value.text = base.factor == 1 ? digits : counted(*number * base.factor);
  value.unit = base.base;
  value.number = *number * base.factor;
  return value;
}

}  // namespace sawtooth::experiments
