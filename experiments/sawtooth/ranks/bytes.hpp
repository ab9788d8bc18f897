// Values as bytes between processes of one program on machines of one kind.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sawtooth::experiments {

class ByteWriter {
 public:
  template <class Value>
  requires std::is_arithmetic_v<Value> ByteWriter& add(Value value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  ByteWriter& add(const std::string& text) {
    add(text.size());
    bytes_ += text;
    return *this;
  }
  ByteWriter& add(const std::vector<std::string>& texts) {
    add(texts.size());
    for (const std::string& text : texts) add(text);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Throws std::runtime_error for a message that ends too early.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <class Value>
  Value number() {
    Value value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number<size_t>())); }
  std::vector<std::string> texts() {
    std::vector<std::string> all(number<size_t>());
    for (std::string& each : all) each = text();
    return all;
  }

 private:
  std::string_view take(size_t count) {
    if (count > rest_.size()) throw std::runtime_error("a message between ranks is cut off");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::string_view rest_;
};

}  // namespace sawtooth::experiments
