#include "model_tree.h"

#include <algorithm>

namespace aasm::backend_native {

std::string path_text(const std::vector<std::string>& names) {
  std::string path;
  for (const std::string& name : names) {
    path += "/" + name;
  }
  return path.empty() ? "/" : path;
}

ModelTree::ModelTree() {
  nodes_.push_back({1, true, {}});
}

std::size_t ModelTree::add(std::size_t directory, const std::string& name, bool is_directory) {
  const std::size_t number = nodes_.size();
  nodes_.push_back({number + 1, is_directory, {}});
  nodes_.at(directory).entries[name] = number;
  return number;
}

void ModelTree::mount(const std::string& name, const std::vector<std::string>& of) {
  mount_name_ = name;
  mounted_ = of;
}

ModelTree::Place ModelTree::walk(const std::vector<std::string>& names) const {
  Place place;
  place.names = names;
  place.exists = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool mounted = i == 0 && !mount_name_.empty() && names[i] == mount_name_;
    const Node& here = nodes_.at(place.node);
    if (!place.exists || !here.directory) {
      return {};
    }
    place.directories.push_back(place.node);
    if (mounted) {
      const Place target = walk(mounted_);
      place.node = target.node;
      place.true_names = target.true_names;
      continue;
    }
    const auto entry = here.entries.find(names[i]);
    place.exists = entry != here.entries.end();
    place.node = place.exists ? entry->second : 0;
    place.true_names.push_back(names[i]);
  }
  return place;
}

ResolvedFile ModelTree::file_of(const Place& place) const {
  ResolvedFile file;
  file.given = file.path = path_text(place.names);
  file.exists = place.exists;
  if (place.exists) {
    file.id = {1, nodes_.at(place.node).inode};
    file.directory = nodes_.at(place.node).directory;
  }
  for (auto one = place.directories.rbegin(); one != place.directories.rend(); ++one) {
    file.parents.push_back({1, nodes_.at(*one).inode});
  }
  return file;
}

std::map<std::string, std::uint64_t> ModelTree::below(const std::vector<std::string>& names) const {
  std::map<std::string, std::uint64_t> found;
  const Place place = walk(names);
  if (place.exists) {
    collect(place.node, path_text(names), found);
  }
  return found;
}

void ModelTree::collect(std::size_t number, const std::string& path,
                        std::map<std::string, std::uint64_t>& found) const {
  found[path] = nodes_.at(number).inode;
  for (const auto& [name, entry] : nodes_.at(number).entries) {
    collect(entry, path + "/" + name, found);
  }
}

void ModelTree::link(const Place& place, std::size_t number) {
  nodes_.at(place.directories.back()).entries[place.names.back()] = number;
}

void ModelTree::unlink(const Place& place) {
  nodes_.at(place.directories.back()).entries.erase(place.names.back());
}

}  // namespace aasm::backend_native
