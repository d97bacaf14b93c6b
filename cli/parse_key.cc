#include "parse_commands.h"

namespace aasm::cli {
namespace {

constexpr const char* kKeyExamples = R"(
Keys: the root certifies a host key, which signs openings of runs, and a log key, which signs
checkpoints. After a change of the log key give the new 'trust' file to whoever verifies elsewhere.

Examples:
  aasm key list                        the keys this ledger has and had
  aasm key rotate host                 a new key, vouched for by the old one
  aasm key replace host --root /mnt/k  the old one was lost or stolen: by the word of root.key
  aasm key revoke 3f2a                 and from where it was retired it does not count

Exit status: 0 done, 1 refused or failed, 2 usage.)";

void add_root_option(CLI::App& app, std::string& directory) {
  app.add_option("--root", directory, "Directory with root.key [$AASM_HOME/keys]")
      ->type_name("DIR");
}

void build_key_changes(Commands& all, CLI::App* key) {
  CLI::App* rotate = key->add_subcommand("rotate", "Put a new key in the place of one you hold");
  add_common(*rotate, all.key_rotate.common);
  rotate->add_option("key", all.key_rotate.which, "host or log")
      ->required()
      ->check(CLI::IsMember({"host", "log"}));
  add_leaf(all, rotate, [](Commands& c) { return Command(c.key_rotate); });
  CLI::App* replace =
      key->add_subcommand("replace", "Put a new key in the place of one lost or stolen");
  all.key_replace.replace = true;
  add_common(*replace, all.key_replace.common);
  replace->add_option("key", all.key_replace.which, "host, log or both")
      ->required()
      ->check(CLI::IsMember({"host", "log", "both"}));
  add_root_option(*replace, all.key_replace.root_dir);
  add_leaf(all, replace, [](Commands& c) { return Command(c.key_replace); });
}

void build_key_revoke(Commands& all, CLI::App* key) {
  CLI::App* revoke = key->add_subcommand("revoke", "Say from where a retired key does not count");
  add_common(*revoke, all.key_revoke.common);
  revoke->add_option("key", all.key_revoke.key, "Key id, or the beginning of one")->required();
  revoke->add_option("--at", all.key_revoke.limit, "Tree size [where the key was retired]")
      ->type_name("SIZE");
  revoke->add_flag("--close-ledger", all.key_revoke.close_ledger,
                   "Also when the key signed past SIZE: the ledger fails from then on");
  add_root_option(*revoke, all.key_revoke.root_dir);
  revoke->footer(
      "What the key signed before SIZE is INCONCLUSIVE from then on, unless a witness had signed "
      "a\ncheckpoint over it of at most SIZE.");
  add_leaf(all, revoke, [](Commands& c) { return Command(c.key_revoke); });
}

}  // namespace

void build_key(Commands& all) {
  CLI::App* key = all.app.add_subcommand("key", "Host and log keys: list, change, revoke");
  key->require_subcommand(1);
  key->footer(kKeyExamples);
  CLI::App* list = key->add_subcommand("list", "The keys of this ledger (not verified)");
  add_common(*list, all.key_list.common);
  add_leaf(all, list, [](Commands& c) { return Command(c.key_list); });
  build_key_changes(all, key);
  build_key_revoke(all, key);
}

}  // namespace aasm::cli
