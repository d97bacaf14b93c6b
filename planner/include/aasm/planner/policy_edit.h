#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/result.h"

// Entries into the lists of a policy document, by its text, so that all that stands in it stays as
// it was written: comments, order and quotes.
namespace aasm::planner {

// Each entry goes on a line of its own behind those that are there, below a comment.
struct ListEntry {
  std::string comment;  // one line, without "# "
  std::string value;    // YAML on one line
};

struct ListEntries {
  std::vector<std::string> list;  // the keys that lead to it below `spec`
  std::vector<ListEntry> entries;
};

// The keys as a reference to the list: "filesystem.read.allow".
std::string list_name(const std::vector<std::string>& list);

// Text that is put in before the byte at `offset` of what was read.
struct Insertion {
  std::size_t offset = 0;
  std::string text;
};

// What puts the entries in, in the order of the offsets. Keys that are missing are made. The error
// names a list that cannot be added to as it is written: an alias, a list in another form. Who uses
// the result reads it again: this works on text and proves nothing.
schema::Result<std::vector<Insertion>> plan_insertions(std::string_view document,
                                                       const std::vector<ListEntries>& added);

std::string apply_insertions(std::string_view document, const std::vector<Insertion>& insertions);

// The change as a unified diff of three lines of context (diff(1), -u). Empty without one.
std::string unified_diff(std::string_view document, const std::vector<Insertion>& insertions,
                         const std::string& name);

}  // namespace aasm::planner
