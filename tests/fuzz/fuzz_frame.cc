#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "frame.h"
#include "frame_check.h"

// The launch helper's check of a frame (aasm/wire/frame.h), compiled here with the sanitizers.
// check_frame() reads nothing outside the frame, and what it accepts can be read section by section
// by the helper's own rules. load_frame() takes it too, from a sealed memfd of the same bytes, and
// not before it is sealed.
namespace {

namespace helper = aasm::helper;
namespace wire = aasm::wire;

constexpr int kFrameFd = 900;  // what the seeds use for the frame itself

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

// Every byte of the section, so that the address sanitizer sees them read.
void read_section(const char* base, wire::Section section, std::size_t frame_size) {
  require(section.offset <= frame_size && section.size <= frame_size - section.offset);
  unsigned sum = 0;
  for (std::uint32_t i = 0; i < section.size; ++i) {
    sum += static_cast<unsigned char>(base[section.offset + i]);
  }
  static_cast<void>(*static_cast<volatile unsigned*>(&sum));
}

void read_accepted(const char* base, const wire::FrameHeader& header) {
  for (const wire::Section section :
       {header.argv, header.envp, header.exec_path, header.descriptors, header.rlimits,
        header.filter, header.script, header.data}) {
    read_section(base, section, header.total_size);
  }
  require(header.script.size / sizeof(wire::ScriptEntry) <= wire::kMaxScriptEntries);
  std::int32_t internal[helper::kMaxInternal] = {};
  require(helper::internal_descriptors(header, internal) <= helper::kMaxInternal);
}

void count_strings(const char* const* list, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    require(list[i] != nullptr);
    static_cast<void>(std::strlen(list[i]));
  }
  require(list[count] == nullptr);
}

void load_accepted(const char* bytes, std::size_t size) {
  const int fd = ::memfd_create("fuzz-frame", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  require(fd >= 0 && ::dup2(fd, kFrameFd) == kFrameFd && ::close(fd) == 0);
  require(::write(kFrameFd, bytes, size) == static_cast<ssize_t>(size));
  helper::Frame frame = {};
  require(!helper::load_frame(kFrameFd, frame));  // not sealed yet
  constexpr int kAllSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  require(::fcntl(kFrameFd, F_ADD_SEALS, kAllSeals) == 0);
  require(helper::load_frame(kFrameFd, frame));
  count_strings(frame.argv, frame.header->num_args);
  count_strings(frame.envp, frame.header->num_env);
  const std::size_t slots = std::size_t{frame.header->num_args} + frame.header->num_env + 2;
  // The helper lives once and unmaps nothing; this process loads many frames.
  require(::munmap(frame.argv, slots * sizeof(char*)) == 0);
  void* base = const_cast<wire::FrameHeader*>(frame.header);  // NOLINT: for munmap(2)
  require(::munmap(base, size) == 0);
  require(::close(kFrameFd) == 0);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer asks for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < sizeof(wire::FrameHeader) || size > wire::kMaxFrameSize) {
    return 0;
  }
  // On the heap, so that a read past the end is seen; words, so that the start is aligned.
  std::vector<std::uint64_t> words((size + 7) / 8);
  std::memcpy(words.data(), data, size);
  // SAFETY: char may alias any object; the header is a plain struct at an aligned address.
  auto* base = reinterpret_cast<char*>(words.data());
  auto& header = *reinterpret_cast<wire::FrameHeader*>(words.data());
  // The size is given right, or nothing of another length would be looked at. A wrong one is for
  // load_frame() to refuse and has its unit test.
  header.total_size = static_cast<std::uint32_t>(size);
  // A refused frame is not loaded: the mapping would stay, for the helper just ends then.
  if (helper::check_frame(base, header, kFrameFd)) {
    read_accepted(base, header);
    load_accepted(base, size);
  }
  return 0;
}
