#include "fork_notes.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "aasm/crypto/hash.h"

#include "files.h"
#include "home.h"
#include "output_file.h"

namespace aasm::cli {

using schema::Result;

std::vector<SourcedNote> notes_of_fork(const verifier::VerifyRequest& request,
                                       const std::string& own) {
  const std::string origin = own.substr(0, own.find('\n') + 1);
  std::vector<SourcedNote> notes{{"file", own}};
  for (const verifier::HeadNote& head : request.head_notes) {
    if (head.note.starts_with(origin)) {  // not those of other ledgers
      notes.push_back({"heads", head.note});
    }
  }
  if (request.expect_head) {
    notes.push_back({"expect-head", *request.expect_head});
  }
  if (request.state) {
    notes.push_back({"state", *request.state});
  }
  return notes;
}

Result<std::vector<std::string>> keep_notes(const std::string& directory,
                                            const std::vector<SourcedNote>& notes) {
  const std::string place = absolute_path(directory);
  if (mkdir(place.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return schema::Error(schema::ErrorCode::kUnavailable,
                         "making " + directory + ": " + std::strerror(errno));
  }
  std::vector<std::string> paths;
  for (const SourcedNote& one : notes) {
    const std::string digest = crypto::sha256(schema::as_bytes(one.note)).hex().substr(0, 16);
    std::string path = place;
    path.append("/fork-").append(one.source).append("-").append(digest).append(".note");
    const OutputFile file = AASM_TRY(OutputFile::open(path));
    AASM_TRY_CONTEXT(file.write(one.note), "keeping a note of the fork");
    paths.push_back(path);
  }
  return paths;
}

}  // namespace aasm::cli
