#include "script_builder.h"

#include <cstddef>

namespace aasm::backend_native {

ScriptArg Script::blob(std::string_view bytes) {
  constexpr std::size_t kAlignment = 8;
  data_.resize((data_.size() + kAlignment - 1) / kAlignment * kAlignment);
  const ScriptArg arg{wire::ArgKind::kData, data_.size()};
  data_ += bytes;
  return arg;
}

std::uint32_t Script::add(const ScriptCall& call) {
  wire::ScriptEntry entry{};
  entry.number = static_cast<std::uint32_t>(call.number);
  entry.when = call.when;
  if (call.returns_descriptor) {
    entry.flags = wire::kCloseAfterControl | wire::kCloseAfterInside;
  }
  if (call.exits_in_child) {
    entry.flags |= wire::kExitInChild;
  }
  for (std::size_t i = 0; i < call.args.size() && i < std::size(entry.args); ++i) {
    entry.arg_kinds[i] = static_cast<std::uint8_t>(call.args[i].kind);
    entry.args[i] = call.args[i].value;
  }
  entries_.push_back(entry);
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

}  // namespace aasm::backend_native
