#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "file_samples.h"
#include "model_tree.h"
#include "support/dice.h"

// Random calls on a random tree with random denied places. Whatever the judge lets be performed is
// performed on the model; what a denied place held, and everything that it held at launch, must
// never be touched, and what has nothing to do with a denied place must never be refused.
namespace aasm::backend_native {
namespace {

using Names = std::vector<std::string>;
using Place = ModelTree::Place;
using F = FileOperation;

constexpr std::size_t kCallsPerTree = 60;

bool starts_with(const Names& names, const Names& start) {
  return names.size() >= start.size() && std::equal(start.begin(), start.end(), names.begin());
}

class World {
 public:
  explicit World(std::uint64_t seed) : dice_(seed) {
    std::vector<std::size_t> directories = {0};
    for (int i = 0; i < 8; ++i) {
      const bool directory = !dice_.one_in(3);
      const std::size_t made = tree_.add(dice_.of(directories), name(), directory);
      if (directory) {
        directories.push_back(made);
      }
    }
    spec_ = sample_spec();
    spec_.grants = {grant("r", schema::Domain::kFilesystemRead, "/", 1, Operation::kRead),
                    grant("w", schema::Domain::kFilesystemWrite, "/", 1, Operation::kWrite)};
    spec_.grants[0].id = spec_.grants[1].id = {1, 1};
    spec_.denials.clear();
    for (std::size_t i = 0; i <= dice_.below(2); ++i) {
      deny(path());
    }
    mount();
  }

  void run() {
    for (std::size_t i = 0; i < kCallsPerTree; ++i) {
      dice_.one_in(3) ? change_two_names() : call_on_one();
      for (const auto& [names, held] : denied_) {
        ASSERT_EQ(tree_.below(names), held) << path_text(names);
      }
    }
  }

  std::size_t performed() const { return performed_; }
  std::size_t refused() const { return refused_; }

 private:
  std::string name() { return std::string(1, "abc"[dice_.below(3)]); }

  Names path() {
    Names names;
    for (std::size_t i = 0; i <= dice_.below(3); ++i) {
      names.push_back(name());
    }
    return names;
  }

  Names any_path() {
    Names names = path();
    if (dice_.one_in(3)) {
      names.insert(names.begin(), "m");
    }
    return names;
  }

  void deny(const Names& names) {
    FileDenial denial{"deny", schema::Domain::kFilesystemWrite, path_text(names), {}};
    for (std::size_t depth = 0; depth <= names.size(); ++depth) {
      const auto end = names.begin() + static_cast<std::ptrdiff_t>(depth);
      const Place place = tree_.walk({names.begin(), end});
      const bool leads_on = place.exists && (place.directories.size() == depth) &&
                            (tree_.node(place.node).directory || depth == names.size());
      if (!leads_on) {
        break;
      }
      denial.ways.push_back({{1, tree_.node(place.node).inode}, {end, names.end()}});
    }
    spec_.denials.push_back(denial);
    denial.domain = schema::Domain::kFilesystemRead;
    spec_.denials.push_back(denial);
    denied_[names] = tree_.below(names);
    for (const auto& [text, inode] : denied_[names]) {
      protected_.insert(inode);
    }
  }

  // Shows a directory a second time, half of the time one above a denied place. Of a mount that
  // starts inside a denied place nothing leads back to it: file_spec.h.
  void mount() {
    Names names = path();
    if (dice_.one_in(2)) {
      names = denied_.begin()->first;
      names.pop_back();
    }
    const Place place = tree_.walk(names);
    const bool starts_inside = std::any_of(denied_.begin(), denied_.end(), [&](const auto& one) {
      return starts_with(names, one.first) && names != one.first;
    });
    if (place.exists && tree_.node(place.node).directory && !starts_inside) {
      mounted_ = names;
      tree_.mount("m", names);
    }
  }

  bool inside(const Place& place) const {
    const bool by_name = std::any_of(denied_.begin(), denied_.end(), [&](const auto& one) {
      return starts_with(place.true_names, one.first);
    });
    return by_name || (place.exists && protected_.count(tree_.node(place.node).inode) != 0);
  }

  bool above(const Place& place) const {
    return std::any_of(denied_.begin(), denied_.end(),
                       [&](const auto& one) { return starts_with(one.first, place.true_names); });
  }

  std::string denied_paths() const {
    std::string text;
    for (const auto& [names, held] : denied_) {
      text += path_text(names) + " (" + std::to_string(held.size()) + " files) ";
    }
    return text + "mount of " + path_text(tree_.walk({"m"}).true_names);
  }

  bool judge(const FileCall& call, bool refuse) {
    const FileVerdict verdict = judge_file(spec_, call);
    EXPECT_EQ(verdict.perform, !refuse)
        << operation_word(call.operations.front()) << " " << call.file.path << " "
        << (call.other ? call.other->path : "") << " beside " << denied_paths();
    ++(verdict.perform ? performed_ : refused_);
    return verdict.perform;
  }

  void call_on_one() {
    const Place place = tree_.walk(any_path());
    if (place.directories.empty() || place.true_names.empty()) {
      return;
    }
    const bool directory = place.exists && tree_.node(place.node).directory;
    if (!place.exists) {
      const F operation = dice_.of(std::vector<F>{F::kCreate, F::kMakeDirectory, F::kMakeSymlink});
      const bool link = operation == F::kMakeSymlink;
      if (judge(call_of(operation, tree_.file_of(place)),
                inside(place) || (link && above(place)))) {
        make(place, operation == F::kMakeDirectory);
      }
      return;
    }
    const F operation = dice_.of(std::vector<F>{F::kRead, F::kWrite, F::kRemove, F::kAttributes});
    if (operation != F::kRemove) {
      judge(call_of(operation, tree_.file_of(place)), inside(place));
      return;
    }
    const F remove = directory ? F::kRemoveDirectory : F::kRemove;
    const bool from_launch = directory && above(place) && made_.count(place.node) == 0;
    if (is_mount(place) ||
        !judge(call_of(remove, tree_.file_of(place)), inside(place) || from_launch)) {
      return;
    }
    if (tree_.node(place.node).entries.empty()) {
      tree_.unlink(place);
    }
  }

  // The model knows what is mounted by its path, which therefore stays what it is.
  bool is_mount(const Place& place) const {
    return place.names == Names{"m"} ||
           (!mounted_.empty() && starts_with(mounted_, place.true_names));
  }

  void make(const Place& place, bool directory) {
    made_.insert(tree_.add(place.directories.back(), place.names.back(), directory));
  }

  void change_two_names() {
    const Place from = tree_.walk(any_path());
    const Place to = tree_.walk(any_path());
    if (!from.exists || from.true_names.empty() || to.directories.empty() ||
        to.true_names.empty() || is_mount(from) || is_mount(to) ||
        starts_with(to.true_names, from.true_names) ||
        starts_with(from.true_names, to.true_names)) {
      return;
    }
    const bool into = inside(from) || inside(to);
    const bool around = into || above(from) || above(to);
    const FileCall call = call_of(F::kRename, tree_.file_of(from), tree_.file_of(to));
    const std::size_t moved = from.node;
    if (to.exists && dice_.one_in(2)) {
      if (judge(call_of(F::kExchange, call.file, *call.other), around)) {
        const std::size_t other = to.node;
        tree_.link(to, moved);
        tree_.link(from, other);
      }
    } else if (!tree_.node(moved).directory && !to.exists && dice_.one_in(2)) {
      if (judge(call_of(F::kLink, call.file, *call.other), into)) {
        tree_.link(to, moved);
      }
    } else if (judge(call, around)) {
      const bool replaces = to.exists && !tree_.node(to.node).entries.empty();
      if (!replaces) {
        tree_.unlink(from);
        tree_.link(to, moved);
      }
    }
  }

  test::Dice dice_;
  ModelTree tree_;
  FileSpec spec_;
  Names mounted_;
  std::map<Names, std::map<std::string, std::uint64_t>> denied_;
  std::set<std::uint64_t> protected_;
  std::set<std::size_t> made_;
  std::size_t performed_ = 0;
  std::size_t refused_ = 0;
};

TEST(FilePropertyTest, DeniedPlacesStayAsTheyWereAndNothingElseIsRefused) {
  std::size_t performed = 0;
  std::size_t refused = 0;
  const std::uint64_t rounds = test::property_rounds(20000);
  for (std::uint64_t seed = 1; seed <= rounds / kCallsPerTree + 1; ++seed) {
    World world(seed);
    world.run();
    performed += world.performed();
    refused += world.refused();
    if (::testing::Test::HasFailure()) {
      FAIL() << "seed " << seed;
    }
  }
  EXPECT_GT(performed, rounds / 20);
  EXPECT_GT(refused, rounds / 20);
}

}  // namespace
}  // namespace aasm::backend_native
