#include "file_request.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "caller_memory.h"
#include "file_attributes.h"
#include "file_registers.h"

namespace aasm::backend_native {
namespace {

using schema::Result;
using wire::BrokerFileCall;

constexpr std::uint32_t kRenameExchange = 1U << 1;  // RENAME_EXCHANGE of linux/fs.h

FileRequest request_of(BrokerFileCall call, NameArgument first) {
  FileRequest request;
  request.call.call = static_cast<std::uint32_t>(call);
  request.first = first;
  return request;
}

FileRequest open_request(NameArgument name, std::uint32_t flags, std::uint32_t mode) {
  FileRequest request = request_of(BrokerFileCall::kOpen, name);
  request.call.flags = flags;
  request.call.mode = mode;
  request.close_on_exec = (flags & O_CLOEXEC) != 0;
  return request;
}

FileRequest made(BrokerFileCall call, NameArgument name, std::uint32_t mode,
                 std::uint32_t device = 0) {
  FileRequest request = request_of(call, name);
  request.call.mode = mode & 0xFFFFU;  // umode_t
  request.call.value = device;
  return request;
}

FileRequest two_names(BrokerFileCall call, NameArgument first, NameArgument second,
                      std::uint32_t how) {
  FileRequest request = request_of(call, first);
  request.second = second;
  request.call.how = how;
  return request;
}

FileRequest removed(NameArgument name, std::uint32_t how) {
  FileRequest request = request_of(BrokerFileCall::kUnlink, name);
  request.call.how = how;
  return request;
}

FileRequest symlink_request(NameArgument text, NameArgument name) {
  FileRequest request = request_of(BrokerFileCall::kMakeSymlink, name);
  request.link_text = text;
  return request;
}

Result<FileRequest> truncate_request(const Registers& args) {
  if (static_cast<std::int64_t>(args.whole(1)) < 0) {
    return kernel_answer(EINVAL);
  }
  FileRequest request = request_of(BrokerFileCall::kTruncate, args.name(0));
  request.call.value = args.whole(1);
  return request;
}

FileRequest open_how_request(const Registers& args) {
  FileRequest request = request_of(BrokerFileCall::kOpenHow, args.name_at(0));
  request.how_address = args.whole(2);
  request.how_size = args.whole(3);
  return request;
}

Result<FileRequest> checked(FileRequest request, std::uint32_t known) {
  if ((request.call.how & ~known) != 0) {
    return kernel_answer(EINVAL);
  }
  return request;
}

// The forms that take a descriptor of a directory.
std::optional<Result<FileRequest>> read_at_form(const seccomp_data& data) {
  const Registers args(data);
  switch (data.nr) {
    case SYS_openat:
      return open_request(args.name_at(0), args.word(2), args.word(3));
    case SYS_openat2:
      return open_how_request(args);
    case SYS_truncate:
      return truncate_request(args);
    case SYS_unlinkat:
      return checked(removed(args.name_at(0), args.word(2)), AT_REMOVEDIR);
    case SYS_mkdirat:
      return made(BrokerFileCall::kMakeDirectory, args.name_at(0), args.word(2));
    case SYS_mknodat:
      return made(BrokerFileCall::kMakeNode, args.name_at(0), args.word(2), args.word(3));
    case SYS_symlinkat:
      return symlink_request(args.name(0), args.name_at(1));
#if defined(SYS_renameat)
    case SYS_renameat:
      return two_names(BrokerFileCall::kRename, args.name_at(0), args.name_at(2), 0);
#endif
    case SYS_renameat2:
      return two_names(BrokerFileCall::kRename, args.name_at(0), args.name_at(2), args.word(4));
    case SYS_linkat:
      return checked(
          two_names(BrokerFileCall::kLink, args.name_at(0), args.name_at(2), args.word(4)),
          AT_SYMLINK_FOLLOW | AT_EMPTY_PATH);
    default:
      return read_attribute_request(data);
  }
}

}  // namespace

const std::vector<std::int32_t>& name_calls() {
  static const std::vector<std::int32_t> calls = {
#if defined(SYS_open)
    SYS_open,
    SYS_creat,
    SYS_unlink,
    SYS_rmdir,
    SYS_rename,
    SYS_link,
    SYS_symlink,
    SYS_mkdir,
    SYS_mknod,
#endif
#if defined(SYS_renameat)
    SYS_renameat,
#endif
    SYS_openat,
    SYS_openat2,
    SYS_truncate,
    SYS_unlinkat,
    SYS_renameat2,
    SYS_linkat,
    SYS_symlinkat,
    SYS_mkdirat,
    SYS_mknodat,
  };
  return calls;
}

std::optional<Result<FileRequest>> read_file_request(const seccomp_data& data) {
#if defined(SYS_open)
  const Registers args(data);
  switch (data.nr) {
    case SYS_open:
      return open_request(args.name(0), args.word(1), args.word(2));
    case SYS_creat:
      return open_request(args.name(0), O_CREAT | O_WRONLY | O_TRUNC, args.word(1));
    case SYS_unlink:
      return removed(args.name(0), 0);
    case SYS_rmdir:
      return removed(args.name(0), AT_REMOVEDIR);
    case SYS_mkdir:
      return made(BrokerFileCall::kMakeDirectory, args.name(0), args.word(1));
    case SYS_mknod:
      return made(BrokerFileCall::kMakeNode, args.name(0), args.word(1), args.word(2));
    case SYS_symlink:
      return symlink_request(args.name(0), args.name(1));
    case SYS_rename:
      return two_names(BrokerFileCall::kRename, args.name(0), args.name(1), 0);
    case SYS_link:
      return two_names(BrokerFileCall::kLink, args.name(0), args.name(1), 0);
    default:
      break;
  }
#endif
  return read_at_form(data);
}

Result<void> read_open_how(pid_t tid, FileRequest* request) {
  open_how how{};
  if (request->how_size < sizeof how) {
    return kernel_answer(EINVAL);
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (request->how_size > page) {
    return kernel_answer(E2BIG);
  }
  std::string bytes(request->how_size, '\0');
  AASM_TRY(read_memory(tid, request->how_address, bytes.data(), bytes.size()));
  if (bytes.find_first_not_of('\0', sizeof how) != std::string::npos) {
    return kernel_answer(E2BIG);
  }
  std::memcpy(&how, bytes.data(), sizeof how);
  request->call.flags = how.flags;
  request->call.mode = how.mode;
  request->call.resolve = how.resolve;
  request->close_on_exec = (how.flags & O_CLOEXEC) != 0;
  return {};
}

Result<std::string> read_name(pid_t tid, std::uint64_t address, bool may_be_empty) {
  constexpr std::uint64_t kPage = 4096;
  std::string name;
  std::array<char, kPage> piece{};
  // Page by page: what lies behind the name's end may not be there.
  while (name.size() < wire::kMaxBrokerPath) {
    const std::uint64_t at = address + name.size();
    const std::size_t size =
        std::min<std::size_t>(kPage - at % kPage, wire::kMaxBrokerPath - name.size());
    AASM_TRY(read_memory(tid, at, piece.data(), size));
    const std::size_t length = ::strnlen(piece.data(), size);
    name.append(piece.data(), length);
    if (length < size) {
      if (name.empty() && !may_be_empty) {
        return kernel_answer(ENOENT);
      }
      return name;
    }
  }
  return kernel_answer(ENAMETOOLONG);
}

bool is_open(const wire::BrokerFile& call) {
  return call.call == static_cast<std::uint32_t>(BrokerFileCall::kOpen) ||
         call.call == static_cast<std::uint32_t>(BrokerFileCall::kOpenHow);
}

std::vector<FileOperation> operations_of(const FileRequest& request, bool exists) {
  switch (static_cast<BrokerFileCall>(request.call.call)) {
    case BrokerFileCall::kOpen:
    case BrokerFileCall::kOpenHow:
      return open_operations(static_cast<int>(request.call.flags), exists);
    case BrokerFileCall::kTruncate:
      return {FileOperation::kTruncate};
    case BrokerFileCall::kUnlink:
      return {request.call.how == AT_REMOVEDIR ? FileOperation::kRemoveDirectory
                                               : FileOperation::kRemove};
    case BrokerFileCall::kMakeDirectory:
      return {FileOperation::kMakeDirectory};
    case BrokerFileCall::kMakeNode: {
      const std::uint64_t type = request.call.mode & S_IFMT;
      return {type == 0 || type == S_IFREG ? FileOperation::kCreate : FileOperation::kMakeNode};
    }
    case BrokerFileCall::kMakeSymlink:
      return {FileOperation::kMakeSymlink};
    case BrokerFileCall::kRename:
      return {(request.call.how & kRenameExchange) != 0 ? FileOperation::kExchange
                                                        : FileOperation::kRename};
    case BrokerFileCall::kLink:
      return {FileOperation::kLink};
    case BrokerFileCall::kChangeMode:
    case BrokerFileCall::kChangeOwner:
    case BrokerFileCall::kChangeTimes:
    case BrokerFileCall::kSetAttribute:
    case BrokerFileCall::kRemoveAttribute:
    case BrokerFileCall::kSetFlags:
    case BrokerFileCall::kControl:
      return {FileOperation::kAttributes};
  }
  return {};
}

}  // namespace aasm::backend_native
