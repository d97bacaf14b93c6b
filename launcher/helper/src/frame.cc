#include "frame.h"

#include <linux/mman.h>

#include "frame_check.h"
#include "sys.h"

namespace aasm::helper {

namespace {

constexpr int kSeekEnd = 2;
constexpr int kGetSeals = 1034;
constexpr long kSealSeal = 1;
constexpr long kSealShrink = 2;
constexpr long kSealGrow = 4;
constexpr long kSealWrite = 8;

bool has_seals(int fd, long wanted) {
  const long seals = control_fd(fd, kGetSeals);
  return seals >= 0 && (seals & wanted) == wanted;
}

const char* map_frame(int fd) {
  if (!has_seals(fd, kSealSeal | kSealShrink | kSealGrow | kSealWrite)) {
    return nullptr;
  }
  const long size = file_end(fd, 0, kSeekEnd);
  if (size < static_cast<long>(sizeof(wire::FrameHeader)) || size > wire::kMaxFrameSize) {
    return nullptr;
  }
  auto* base =
      static_cast<const char*>(map_bytes(static_cast<size_t>(size), PROT_READ, MAP_PRIVATE, fd));
  if (base == nullptr) {
    return nullptr;
  }
  // SAFETY: the mapping is page-aligned and at least a header long.
  const auto* header = reinterpret_cast<const wire::FrameHeader*>(base);
  return header->total_size == static_cast<uint64_t>(size) ? base : nullptr;
}

// SAFETY: check_frame() found the section inside the frame, aligned to eight, and a multiple of T.
template <class T>
const T* section_start(const char* base, wire::Section section) {
  return section.size == 0 ? nullptr : reinterpret_cast<const T*>(base + section.offset);
}

// Points the slots at `count` strings that stand back to back, and ends the array. Returns what
// follows the array.
const char** point_at_strings(const char** slots, const char* text, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    *slots++ = text;
    while (*text != '\0') {
      ++text;
    }
    ++text;
  }
  *slots++ = nullptr;
  return slots;
}

bool build_vectors(Frame& frame, const char* base) {
  const auto& header = *frame.header;
  const size_t slots = static_cast<size_t>(header.num_args) + header.num_env + 2;
  frame.argv = static_cast<const char**>(
      map_bytes(slots * sizeof(char*), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
  if (frame.argv == nullptr) {
    return false;
  }
  frame.envp = point_at_strings(frame.argv, base + header.argv.offset, header.num_args);
  point_at_strings(frame.envp, base + header.envp.offset, header.num_env);
  return true;
}

}  // namespace

bool load_frame(int fd, Frame& frame) {
  const char* base = map_frame(fd);
  if (base == nullptr) {
    return false;
  }
  // SAFETY: as in map_frame().
  const auto& header = *reinterpret_cast<const wire::FrameHeader*>(base);
  if (!check_frame(base, header, fd)) {
    return false;
  }
  frame.header = &header;
  frame.descriptors = section_start<int32_t>(base, header.descriptors);
  frame.num_descriptors = header.descriptors.size / sizeof(int32_t);
  frame.rlimits = section_start<wire::Rlimit>(base, header.rlimits);
  frame.num_rlimits = header.rlimits.size / sizeof(wire::Rlimit);
  frame.filter = section_start<wire::FilterInstruction>(base, header.filter);
  frame.num_instructions = header.filter.size / sizeof(wire::FilterInstruction);
  frame.script = section_start<wire::ScriptEntry>(base, header.script);
  frame.num_entries = header.script.size / sizeof(wire::ScriptEntry);
  frame.data = section_start<char>(base, header.data);
  frame.exec_path = section_start<char>(base, header.exec_path);
  return build_vectors(frame, base);
}

wire::StatusPage* load_status(const Frame& frame) {
  const int fd = frame.header->status_fd;
  if (!has_seals(fd, kSealShrink | kSealGrow) || file_end(fd, 0, kSeekEnd) != wire::kStatusSize) {
    return nullptr;
  }
  auto* page = static_cast<wire::StatusPage*>(
      map_bytes(wire::kStatusSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd));
  if (page == nullptr || page->magic != wire::kStatusMagic ||
      page->version != wire::kStatusVersion || page->size != wire::kStatusSize) {
    return nullptr;
  }
  return page;
}

uint32_t internal_descriptors(const wire::FrameHeader& header, int32_t* list) {
  const int32_t candidates[] = {header.status_fd,     header.report_fd, header.socket_fd,
                                header.exec_fd,       header.cwd_fd,    header.rulesets[0].fd,
                                header.rulesets[1].fd};
  static_assert(wire::kMaxRulesets == 2);
  uint32_t count = 0;
  for (const int32_t fd : candidates) {
    if (fd >= 0) {
      list[count++] = fd;
    }
  }
  if ((header.flags & wire::kFlagBroker) != 0) {
    list[count++] = header.broker_fd;
  }
  return count;
}

}  // namespace aasm::helper
