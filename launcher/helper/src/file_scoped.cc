#include "file_scoped.h"

#include <linux/fcntl.h>
#include <linux/openat2.h>

#include "file_directory.h"
#include "text.h"

namespace aasm::helper {

namespace {

constexpr uint64_t kResolveCached = 0x20;  // RESOLVE_CACHED of Linux 5.12

// A link of proc(5) could lead to us. Below a directory the kernel follows none anyway, and says
// so in its own way.
uint64_t ways_of(const wire::BrokerFile& file) {
  const bool below = (file.resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)) != 0;
  return file.resolve | (below ? 0U : RESOLVE_NO_MAGICLINKS);
}

// Names on proc(5) may mean us instead of the caller.
long unless_on_proc(long fd) {
  if (fd < 0 || !on_proc(static_cast<int>(fd))) {
    return fd;
  }
  close_fd(static_cast<int>(fd));
  return -kEloop;
}

// Where the last part of a name begins.
size_t directory_size(const char* name) {
  size_t size = length_of(name);
  while (size > 0 && name[size - 1] == '/') {
    --size;
  }
  while (size > 0 && name[size - 1] != '/') {
    --size;
  }
  return size;
}

bool keep(const char* last, Place& place) {
  const size_t size = length_of(last);
  for (size_t i = 0; i <= size && size < sizeof(place.last); ++i) {
    place.last[i] = last[i];
  }
  return size < sizeof(place.last);
}

// The directory of the name in text.rest, and whether its last part is a link.
long find_directory(const wire::BrokerFile& file, int start, WalkText& text, Place& place) {
  const size_t size = directory_size(text.rest);
  for (size_t i = 0; i < size; ++i) {
    text.ahead[i] = text.rest[i];
  }
  text.ahead[size] = '\0';
  const char* directory = size == 0 ? "." : text.ahead;
  const long fd = unless_on_proc(open_how(start, directory, O_DIRECTORY, ways_of(file)));
  if (fd < 0) {
    return fd;
  }
  place.parent = static_cast<int>(fd);
  if (text.rest[length_of(text.rest) - 1] == '/') {
    return -kEisdir;
  }
  if (!keep(text.rest + size, place)) {
    return -kEnametoolong;
  }
  const long looked = look_at(place.parent, place.last, AT_SYMLINK_NOFOLLOW, place.found);
  place.looked_at = looked >= 0 || looked == -kEnoent;
  place.exists = looked >= 0;
  return place.looked_at ? 0 : looked;
}

// Puts what the link says in the place of the last part of the name in text.rest.
long follow_link(const Place& place, WalkText& text) {
  const long size = raw_call(__NR_readlinkat, place.parent, address(place.last),
                             address(text.ahead), kMaxName - 1);
  if (size < 0) {
    return size;
  }
  text.ahead[size] = '\0';
  const size_t directory = directory_size(text.rest);
  if (text.ahead[0] == '/' || directory == 0) {
    return join(text.rest, text.ahead, static_cast<size_t>(size), "") ? 0 : -kEnametoolong;
  }
  return join(text.rest, text.rest, directory - 1, text.ahead) ? 0 : -kEnametoolong;
}

// Where what is not there would be made: the kernel follows links to nothing, too.
long find_new(const wire::BrokerFile& file, int start, WalkText& text, Place& place) {
  for (uint32_t links = 0; links <= wire::kMaxBrokerLinks; ++links) {
    place = Place{};
    const long result = find_directory(file, start, text, place);
    const bool goes_on = result >= 0 && place.exists && is_link(place.found) && follows_first(file);
    const bool made_since = place.exists && !goes_on && (file.flags & O_EXCL) == 0;
    if (result >= 0 && !goes_on && !made_since) {
      return 0;
    }
    const long followed = goes_on ? follow_link(place, text) : result < 0 ? result : -kEagain;
    if (place.parent >= 0) {
      close_fd(place.parent);
    }
    if (followed < 0) {
      place = Place{};
      return followed;
    }
  }
  place = Place{};
  return -kEloop;
}

}  // namespace

long act_in_one_piece(const wire::BrokerFile& file, int start, const char* name,
                      FilePlaces& places) {
  struct open_how how = {};
  how.flags = file.flags | O_CLOEXEC | O_NOCTTY;
  how.mode = file.mode;
  how.resolve = ways_of(file);
  if ((file.resolve & ~kResolveCached) == 0) {
    return -kEagain;  // it is not cached
  }
  const long fd = raw_call(__NR_openat2, start, address(name), address(&how), sizeof(how));
  if (fd < 0) {
    return fd;
  }
  places.opened = static_cast<int>(fd);
  return on_proc(places.opened) ? -kEloop : 0;
}

long find_in_one_piece(const wire::BrokerFile& file, int start, const char* name, WalkText& text,
                       FilePlaces& places) {
  if ((file.resolve & kResolveCached) != 0) {
    return -kEagain;
  }
  const bool follows = follows_first(file) || ends_as_directory(name);
  const long target =
      unless_on_proc(open_how(start, name, follows ? 0U : O_NOFOLLOW, ways_of(file)));
  if (target >= 0) {
    places.target = static_cast<int>(target);
    return look_at(places.target, "", AT_EMPTY_PATH, places.first.found);
  }
  if (target != -kEnoent || !creates_first(file) || name[0] == '\0') {
    return target;
  }
  return join(text.rest, name, length_of(name), "") ? find_new(file, start, text, places.first)
                                                    : -kEnametoolong;
}

}  // namespace aasm::helper
