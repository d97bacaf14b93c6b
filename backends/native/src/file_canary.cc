#include "file_canary.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "canary_objects.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;

std::string quoted(const std::string& path) {
  return "\"" + path + "\"";
}

FileCanary truncation(const std::string& path, Script& script) {
  FileCanary canary;
  canary.id = "filesystem_write.decision";
  canary.domain = Domain::kFilesystemWrite;
  canary.action = "truncate(" + quoted(path) + ", 0)";
  canary.call.number = SYS_truncate;
  canary.call.args = {script.text(path), value_arg(0)};
  return canary;
}

FileCanary opening(const std::string& path, Script& script) {
  FileCanary canary;
  canary.id = "filesystem_read.decision";
  canary.domain = Domain::kFilesystemRead;
  canary.action = "openat2(" + quoted(path) + ", O_RDONLY)";
  canary.call = open_how_call(path, O_RDONLY, script);
  return canary;
}

}  // namespace

ScriptCall open_how_call(const std::string& path, int flags, Script& script) {
  const std::array<std::uint64_t, 3> how = {static_cast<std::uint64_t>(flags) | O_CLOEXEC, 0,
                                            0};  // struct open_how
  std::array<char, sizeof how> bytes{};
  std::memcpy(bytes.data(), how.data(), sizeof how);
  ScriptCall call;
  call.number = SYS_openat2;
  call.returns_descriptor = true;
  call.args = {value_arg(AT_FDCWD), script.text(path), script.blob({bytes.data(), bytes.size()}),
               value_arg(sizeof how)};
  return call;
}

std::vector<FileCanary> decided_file_calls(const FileSpec& spec, const std::string& directory,
                                           Script& script) {
  std::vector<FileCanary> canaries;
  if (spec.judges() && spec.write_stated) {
    canaries.push_back(truncation(canary_write_path(directory), script));
  }
  if (spec.level == FileLevel::kDecisions && spec.read_stated) {
    canaries.push_back(opening(canary_read_path(directory), script));
  }
  return canaries;
}

}  // namespace aasm::backend_native
