#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "aasm/schema/utf8.h"

#include "explaining.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::Error;
using schema::ErrorCode;
using schema::Result;
using schema::Selector;
using schema::SelectorType;

constexpr std::array<std::string_view, 5> kOperations = {"read", "write", "execute", "create",
                                                         "remove"};

Selector prefix(const std::string& path) {
  return {SelectorType::kPathPrefix, schema::PathBytes(path)};
}

Domain domain_of(std::string_view operation) {
  return operation == "read" || operation == "execute" ? Domain::kFilesystemRead
                                                       : Domain::kFilesystemWrite;
}

// A path cut where its last component begins. `name` is empty for the root.
struct Entry {
  std::string directory;
  std::string name;
};

Entry entry_of(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  const std::size_t slash = path.rfind('/');
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

class PathExplainer {
 public:
  PathExplainer(const ExplainInput& input, const std::string& what)
      : input_(input), path_(what.front() == '/' ? what : input.working_dir + "/" + what) {
    out_.asked = what;
    out_.kind = "path";
  }

  Result<ExplainedObject> run(const std::string& operation) {
    target_ = AASM_TRY(input_.host.resolve(path_));
    out_.resolved = target_.resolved;
    out_.links = target_.links;
    for (const std::string_view one : kOperations) {
      if (operation.empty() || operation == one) {
        const bool entry = one == "create" || one == "remove";
        AASM_TRY(entry ? name_in_directory(std::string(one)) : file(std::string(one)));
      }
    }
    if (operation == "connect") {
      AASM_TRY(socket());
    }
    if (out_.answers.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   "the operations on a path are read, write, execute, create and remove, and of a "
                   "unix socket connect");
    }
    return std::move(out_);
  }

 private:
  Result<void> file(const std::string& operation) {
    const Selector object = prefix(target_.resolved);
    Action action{domain_of(operation), operation, target_.resolved};
    const PolicySaying saying = what_policy_says(input_, action, object, object);
    out_.answers.push_back(explain_action(input_, std::move(action), saying));
    out_.answers.back().host_errno = host_answer(operation);
    if (operation == "execute" && target_.exists && !target_.is_directory) {
      AASM_TRY(follow_execution(input_, target_.resolved, out_.answers.back(), out_.notes));
    }
    return {};
  }

  // The rules on sockets name them as policy has them, links and all.
  Result<void> socket() {
    Selector object{SelectorType::kSocketPath, schema::PathBytes(target_.resolved)};
    for (const schema::Requirement& requirement : input_.requirements) {
      for (const schema::PolicyRule& rule : requirement.rules) {
        if (rule.selector.type == SelectorType::kSocketPath &&
            AASM_TRY(input_.host.resolve(rule.selector.value.bytes())).resolved ==
                target_.resolved) {
          object = rule.selector;
        }
      }
    }
    Action action{Domain::kIpc, "connect", target_.resolved};
    const PolicySaying saying = what_policy_says(input_, action, object, object);
    out_.answers.push_back(explain_action(input_, std::move(action), saying));
    out_.answers.back().host_errno =
        target_.exists ? input_.host.permits(target_.resolved, W_OK) : target_.os_errno;
    return {};
  }

  // Making and removing a name asks for rights on the directory it is in, and follows no link at
  // its end.
  Result<void> name_in_directory(const std::string& operation) {
    const Entry entry = entry_of(path_);
    const WalkedPath directory = AASM_TRY(input_.host.resolve(entry.directory));
    const std::string resolved =
        (directory.resolved == "/" ? "" : directory.resolved) + "/" + entry.name;
    Action action{domain_of(operation), operation, resolved};
    const PolicySaying saying =
        what_policy_says(input_, action, prefix(directory.resolved), prefix(resolved));
    out_.answers.push_back(explain_action(input_, std::move(action), saying));
    out_.answers.back().host_errno = host_answer(operation, directory, entry, resolved);
    return {};
  }

  int host_answer(const std::string& operation) const {
    if (!target_.exists) {
      return target_.os_errno;
    }
    if (path_.back() == '/' && !target_.is_directory) {
      return ENOTDIR;
    }
    if (target_.is_directory && operation != "read") {
      return operation == "write" ? EISDIR : EACCES;
    }
    const int mode = operation == "read" ? R_OK : operation == "write" ? W_OK : X_OK;
    return input_.host.permits(target_.resolved, mode);
  }

  int host_answer(const std::string& operation, const WalkedPath& directory, const Entry& entry,
                  const std::string& resolved) const {
    const bool makes = operation == "create";
    if (!directory.exists) {
      return directory.os_errno;
    }
    if (!directory.is_directory) {
      return ENOTDIR;
    }
    if (entry.name.empty() || entry.name == "." || entry.name == "..") {
      return makes ? EEXIST : entry.name == ".." ? ENOTEMPTY : EINVAL;
    }
    const int there = input_.host.look(resolved);
    if (makes ? there != ENOENT : there != 0) {
      return there == 0 ? EEXIST : there;
    }
    return input_.host.permits(directory.resolved, W_OK | X_OK);
  }

  const ExplainInput& input_;
  const std::string path_;
  WalkedPath target_;
  ExplainedObject out_;
};

}  // namespace

HostView this_host() {
  HostView host;
  host.resolve = walk_path;
  host.look = [](const std::string& path) {
    struct stat facts = {};
    return ::lstat(path.c_str(), &facts) == 0 ? 0 : errno;
  };
  host.permits = [](const std::string& path, int mode) {
    return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0 ? 0 : errno;
  };
  return host;
}

Result<ExplainedObject> explain_path(const ExplainInput& input, const std::string& what,
                                     const std::string& operation) {
  if (what.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, "a path holds no NUL byte");
  }
  return PathExplainer(input, what).run(operation);
}

}  // namespace aasm::planner
