#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "aasm/planner/learn.h"

namespace aasm::planner {

void merge(Asking& into, const Asking& more);

// Whether a directory is too wide to stand for what lies in it.
bool is_wide(const std::string& path, const std::optional<std::string>& home);

// The paths that were asked for, by the rule of kMembersForDirectory, until nothing changes; a
// directory stands for its members only where `may_stand` says so. What another one covers is
// counted with that. Paths are normalised.
std::map<std::string, Asking> generalise(
    std::map<std::string, Asking> asked,
    const std::function<bool(const std::string& directory)>& may_stand);

// What changes from run to run stands for itself: below /proc/NUMBER, /proc.
std::string without_process_number(const std::string& path);

}  // namespace aasm::planner
