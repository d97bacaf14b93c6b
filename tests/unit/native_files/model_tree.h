#pragma once

#include <map>
#include <string>
#include <vector>

#include "file_judge.h"

namespace aasm::backend_native {

// A filesystem in memory: directories, files with several names, and one directory that a mount
// shows a second time.
class ModelTree {
 public:
  struct Node {
    std::uint64_t inode = 0;
    bool directory = false;
    std::map<std::string, std::size_t> entries;
  };
  // What a path leads to, by the names that were walked.
  struct Place {
    std::vector<std::string> names;        // as the kernel would name it
    std::vector<std::string> true_names;   // not by way of the mount
    std::vector<std::size_t> directories;  // walked, the root first
    std::size_t node = 0;
    bool exists = false;
  };

  ModelTree();
  std::size_t add(std::size_t directory, const std::string& name, bool is_directory);
  void mount(const std::string& name, const std::vector<std::string>& of);

  // Empty `names` and no directory: nothing leads there.
  Place walk(const std::vector<std::string>& names) const;
  ResolvedFile file_of(const Place& place) const;
  const Node& node(std::size_t number) const { return nodes_.at(number); }
  // Every path of the subtree with the inode there, for comparing.
  std::map<std::string, std::uint64_t> below(const std::vector<std::string>& names) const;

  void link(const Place& place, std::size_t number);
  void unlink(const Place& place);

 private:
  void collect(std::size_t number, const std::string& path,
               std::map<std::string, std::uint64_t>& found) const;

  std::vector<Node> nodes_;
  std::string mount_name_;  // in the root
  std::vector<std::string> mounted_;
};

std::string path_text(const std::vector<std::string>& names);

}  // namespace aasm::backend_native
