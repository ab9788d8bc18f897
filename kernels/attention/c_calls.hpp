// What the calls of the C API share: messages a thread, structs that grow at their end.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention.hpp"

namespace sawtooth::kernels {

/// What was wrong with this thread's last call.
inline std::string& last_message() {
  thread_local std::string message;
  return message;
}

/// Keeps the message of what `call` returns. No exception leaves it: C knows none.
template <class Call>
sawtooth_status finish(const Call& call) noexcept {
  std::string& message = last_message();
  try {
    Outcome outcome = call();
    message = std::move(outcome.message);
    return static_cast<sawtooth_status>(outcome.status);
  } catch (const std::bad_alloc&) {
    message = "no host memory";  // short: needs none
  } catch (const std::exception& error) {
    try {
      message = error.what();
    } catch (...) {
      message.clear();
    }
  } catch (...) {
    message = "unknown error";
  }
  return SAWTOOTH_LAUNCH_FAILED;
}

/// Bytes of a struct in the first header that has it; beside each struct's calls.
template <class Struct>
constexpr std::size_t least_struct_size = 0;

/// What the program knows of the struct that a message calls `name`; the rest is zero.
template <class Struct>
Outcome known_part(const char* name, const Struct* from, Struct& to) {
  to = {};
  if (from == nullptr) return {Status::null_pointer, std::string(name) + " is a null pointer"};
  if (from->version != SAWTOOTH_API_VERSION)
    return {Status::bad_version,
            std::string(name) + ": version is " + std::to_string(from->version) + "; allowed: " +
                std::to_string(SAWTOOTH_API_VERSION) + ", which the struct's defaults set"};
  if (from->struct_size < least_struct_size<Struct>)
    return {Status::bad_version,
            std::string(name) + ": struct_size is " + std::to_string(from->struct_size) +
                "; allowed: " + std::to_string(least_struct_size<Struct>) + " or more"};
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  const std::size_t known = std::min(std::size_t(from->struct_size), sizeof to);
  if (std::any_of(bytes + known, bytes + from->struct_size, [](unsigned char b) { return b != 0; }))
    return {Status::bad_version, std::string(name) +
                                     " sets a field that this library does not know; use the "
                                     "library of its header, or a later one"};
  std::memcpy(&to, from, known);
  return {};
}

template <class Struct>
void fill_defaults(const Struct& defaults, Struct* to, std::size_t struct_size) {
  if (to == nullptr || struct_size < least_struct_size<Struct>) return;
  Struct with_size = defaults;
  with_size.struct_size = uint32_t(struct_size);
  with_size.version = SAWTOOTH_API_VERSION;
  std::memset(static_cast<void*>(to), 0, struct_size);
  std::memcpy(static_cast<void*>(to), &with_size, std::min(struct_size, sizeof with_size));
}

/// Status of `use(call)`, where the structs describe the C++ call; `translate` beside each struct's
/// calls does.
template <class Call, class Use, class... Structs>
sawtooth_status with_call(const Use& use, const Structs*... structs) {
  return finish([&]() -> Outcome {
    Call call;
    if (Outcome bad = translate(structs..., call); !bad) return bad;
    return use(call);
  });
}

inline sawtooth_status refuse_null(const char* name) {
  return finish([&] {
    return Outcome{Status::null_pointer, std::string(name) + " is a null pointer"};
  });
}

/// What a valid call needs; 0 bytes of another one.
template <class Call, class... Structs>
sawtooth_status find_workspace_bytes(std::size_t* bytes, const Structs*... structs) {
  if (bytes == nullptr) return refuse_null("bytes");
  *bytes = 0;
  return with_call<Call>(
      [&](const Call& call) {
        Outcome outcome = check(call);
        if (outcome) *bytes = workspace_bytes(call);
        return outcome;
      },
      structs...);
}

/// `Plan` is a struct of the C API with a C++ plan.
template <class Call, class Plan, class Struct>
sawtooth_status create_plan(const Struct* from, void* workspace, std::size_t bytes, Plan** plan) {
  if (plan == nullptr) return refuse_null("plan");
  *plan = nullptr;
  return with_call<Call>(
      [&](const Call& call) {
        auto made = std::make_unique<Plan>();
        Outcome outcome = made->plan.make(call, workspace, bytes);
        if (outcome) *plan = made.release();
        return outcome;
      },
      from);
}

template <class Plan, class Use>
sawtooth_status with_plan(const Plan* plan, const Use& use) {
  return plan == nullptr ? refuse_null("plan") : finish([&] { return use(plan->plan); });
}

inline Outcome check_enumerators(sawtooth_dtype dtype, sawtooth_mask mask) {
  if (dtype < SAWTOOTH_BF16 || dtype > SAWTOOTH_FP32)
    return {Status::unsupported_type, "dtype is none of the values of sawtooth_dtype"};
  if (mask < SAWTOOTH_MASK_NONE || mask > SAWTOOTH_MASK_LISTS)
    return {Status::bad_size, "mask is none of the values of sawtooth_mask"};
  return {};
}

inline Strides strides_of(const sawtooth_strides& strides) {
  return {strides.batch, strides.head, strides.row};
}

}  // namespace sawtooth::kernels
