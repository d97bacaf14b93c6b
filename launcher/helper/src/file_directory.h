#pragma once

#include "file_walk.h"

// The steps of a walk along a name (file_walk.h).
namespace aasm::helper {

inline constexpr uint64_t kProcRootInode = 1;

bool is_link(const wire::BrokerPlace& found);
bool is_dots(const char* name);

// A reference (O_PATH) by openat2(2); RESOLVE_*. A descriptor or a negative errno.
long open_how(int directory, const char* name, uint64_t flags, uint64_t resolve);

// Puts `head`, a slash and `tail`, which may stand in `to` already, into `to`. False: too long.
bool join(char* to, const char* head, size_t head_size, const char* tail);

// The text of the link `name` in `directory`, as the caller would read it; 0: only the kernel can
// follow it. Else a size or a negative errno. Holds `kMaxName` bytes.
long read_link(const Reading& reading, int directory, const char* name, char* text);

// The directory that the first `size` bytes of text.rest name.
long open_directory(const Reading& reading, int start, size_t size, uint32_t& links,
                    WalkText& text);

}  // namespace aasm::helper
