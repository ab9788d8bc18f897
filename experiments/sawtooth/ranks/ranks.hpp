// The processes of one job under mpirun or srun, opened where there are several. The program links
// no MPI: it opens a plugin, and only under a launcher.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sawtooth::experiments {

/// What a sweep over several processes needs of MPI, as a table of functions: the one place where
/// the program and its plugin (mpi_plugin.cpp) meet. Messages are bytes. An error of MPI ends the
/// job, as MPI has it by default.
struct MessagePassing {
  int rank, size;
  void (*send)(int to, const char* bytes, size_t count);
  /// Bytes of the next message, and where it is from; -1 where none has come.
  long (*probe)(int* from);
  void (*receive)(int from, char* bytes, size_t count);
  void (*finish)();
};

/// Begins, once; the plugin exports it under this name.
using MessagePassingEntry = const MessagePassing* (*)();
inline constexpr const char* message_passing_entry = "sawtooth_message_passing";
inline constexpr const char* message_passing_plugin = "libsawtooth_mpi.so";

/// Between two looks for messages.
inline constexpr std::chrono::microseconds pause_between_looks{200};

class Ranks {
 public:
  /// Nothing outside of a launcher, or of one process. Throws UsageError where there is a launcher
  /// and no plugin.
  static std::optional<Ranks> open();

  int rank() const { return table_->rank; }
  int size() const { return table_->size; }
  void send(int to, const std::string& bytes) const {
    table_->send(to, bytes.data(), bytes.size());
  }
  /// The next message and where it is from; nothing where none has come.
  std::optional<std::pair<int, std::string>> receive() const;
  /// Waits for it without keeping a core busy, as MPI's own waits do.
  std::pair<int, std::string> wait() const;
  /// All of the job call it; no message after it.
  void finish() const { table_->finish(); }

  explicit Ranks(const MessagePassing* table) : table_(table) {}  // open(), and tests

 private:
  const MessagePassing* table_;
};

/// Values as bytes between processes of one program on machines of one kind.
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
