#include "aasm/process/next_image.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/process/shebang.h"

namespace aasm::process {
namespace {

using schema::Result;
using Kind = NextImage::Kind;

// ELF_MIN_ALIGN bounds the table of program headers, PATH_MAX the name of the loader.
constexpr std::size_t kMaxHeadersBytes = 65536;
constexpr std::size_t kMaxLoaderName = 4096;

// What there is of `size` bytes at `offset`.
Result<std::string> read_at(BorrowedFd fd, std::size_t size, std::uint64_t offset) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got =
        ::pread(fd.get(), bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return system_error("reading a program", errno);
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

template <class T>
std::optional<T> at(std::string_view bytes, std::size_t offset) {
  T value{};
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return std::nullopt;
  }
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// For one of the two classes of ELF.
template <class Header, class Segment>
Result<NextImage> loader_of(BorrowedFd fd, std::string_view head) {
  const auto header = at<Header>(head, 0);
  const bool sane = header && header->e_phentsize == sizeof(Segment) && header->e_phnum > 0 &&
                    header->e_phnum * sizeof(Segment) <= kMaxHeadersBytes &&
                    (header->e_type == ET_EXEC || header->e_type == ET_DYN);
  if (!sane) {
    return NextImage{Kind::kRefused, ""};
  }
  const std::string table =
      AASM_TRY(read_at(fd, header->e_phnum * sizeof(Segment), header->e_phoff));
  for (std::size_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = at<Segment>(table, i * sizeof(Segment));
    if (!segment || segment->p_type != PT_INTERP) {
      continue;
    }
    if (segment->p_filesz < 2 || segment->p_filesz > kMaxLoaderName) {
      return NextImage{Kind::kRefused, ""};
    }
    const std::string name = AASM_TRY(read_at(fd, segment->p_filesz, segment->p_offset));
    if (name.size() != segment->p_filesz || name.back() != '\0') {
      return NextImage{Kind::kRefused, ""};
    }
    return NextImage{Kind::kLoader, name.substr(0, name.find('\0'))};
  }
  return NextImage{};
}

}  // namespace

Result<NextImage> next_image(const std::string& path) {
  // Non-blocking: a pipe must not make this wait for its writer.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) {
    return system_error("reading a program", errno);
  }
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) {
    return system_error("fstat", errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return NextImage{};
  }
  const std::string head = AASM_TRY(read_at(file.borrow(), kExecBufferSize, 0));
  const ProgramHead parsed = parse_program_head(head);
  switch (parsed.format) {
    case ProgramFormat::kScript:
      return NextImage{Kind::kInterpreter, parsed.interpreter};
    case ProgramFormat::kBadScript:
      return NextImage{Kind::kRefused, ""};
    case ProgramFormat::kOther:
      return NextImage{};
    case ProgramFormat::kElf:
      break;
  }
  return head.size() > EI_CLASS && head[EI_CLASS] == ELFCLASS32
             ? loader_of<Elf32_Ehdr, Elf32_Phdr>(file.borrow(), head)
             : loader_of<Elf64_Ehdr, Elf64_Phdr>(file.borrow(), head);
}

}  // namespace aasm::process
