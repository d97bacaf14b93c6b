#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/wire/script.h"

// Writes the script of system calls that the launch helper runs (aasm/wire/script.h).
namespace aasm::backend_native {

// One argument of a scripted call.
struct ScriptArg {
  wire::ArgKind kind = wire::ArgKind::kValue;
  std::uint64_t value = 0;
};

inline ScriptArg value_arg(std::int64_t value) {
  return {wire::ArgKind::kValue, static_cast<std::uint64_t>(value)};
}
inline ScriptArg own_pid_arg() {
  return {wire::ArgKind::kOwnPid, 0};
}
inline ScriptArg warden_pid_arg() {
  return {wire::ArgKind::kWardenPid, 0};
}
// What the entry returned in the same half.
inline ScriptArg result_arg(std::uint32_t entry) {
  return {wire::ArgKind::kResult, entry};
}
inline ScriptArg scratch_arg(std::uint64_t offset) {
  return {wire::ArgKind::kScratch, offset};
}

struct ScriptCall {
  long number = 0;
  std::uint8_t when = wire::kWhenControl | wire::kWhenInside;
  bool returns_descriptor = false;  // closed at once
  bool exits_in_child = false;      // it makes a process, which ends at once
  std::vector<ScriptArg> args;      // at most six
};

// A script and the bytes its arguments point to.
class Script {
 public:
  // A string in the data section, ended by NUL.
  ScriptArg text(std::string_view bytes) { return blob(std::string(bytes) + '\0'); }
  // Bytes in the data section, aligned for any integer. The kernel must not write to them.
  ScriptArg blob(std::string_view bytes);

  // Appends an entry and returns its index.
  std::uint32_t add(const ScriptCall& call);

  bool full() const { return entries_.size() >= wire::kMaxScriptEntries; }
  const std::vector<wire::ScriptEntry>& entries() const { return entries_; }
  const std::string& data() const { return data_; }

 private:
  std::vector<wire::ScriptEntry> entries_;
  std::string data_;
};

}  // namespace aasm::backend_native
