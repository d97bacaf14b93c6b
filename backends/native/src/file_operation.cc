#include "file_operation.h"

#include <fcntl.h>

#include "landlock_uapi.h"

namespace aasm::backend_native {

using schema::Domain;

Domain domain_of(FileOperation operation) {
  const bool reads = operation == FileOperation::kRead || operation == FileOperation::kExecute;
  return reads ? Domain::kFilesystemRead : Domain::kFilesystemWrite;
}

bool has_two_names(FileOperation operation) {
  return operation == FileOperation::kRename || operation == FileOperation::kExchange ||
         operation == FileOperation::kLink;
}

bool changes_directory(FileOperation operation, const ResolvedFile& file) {
  switch (operation) {
    case FileOperation::kRead:
    case FileOperation::kWrite:
    case FileOperation::kTruncate:
    case FileOperation::kAttributes:
    case FileOperation::kExecute:
      return false;
    case FileOperation::kCreate:  // O_TMPFILE makes no name, in a directory that is there
      return !(file.exists && file.directory);
    case FileOperation::kMakeDirectory:
    case FileOperation::kMakeNode:
    case FileOperation::kMakeSymlink:
    case FileOperation::kRemove:
    case FileOperation::kRemoveDirectory:
    case FileOperation::kRename:
    case FileOperation::kExchange:
    case FileOperation::kLink:
      break;
  }
  return true;
}

std::uint64_t rights_for(FileOperation operation, const ResolvedFile& file) {
  switch (operation) {
    case FileOperation::kRead:
      return file.directory ? landlock::kReadDir : landlock::kReadFile;
    case FileOperation::kWrite:
    case FileOperation::kAttributes:
      return landlock::kWriteFile;
    case FileOperation::kTruncate:
      return landlock::kTruncate;
    case FileOperation::kCreate:
    case FileOperation::kLink:
      return landlock::kMakeReg;
    case FileOperation::kMakeDirectory:
      return landlock::kMakeDir;
    case FileOperation::kMakeNode:
      return landlock::kMakeFifo;
    case FileOperation::kMakeSymlink:
      return landlock::kMakeSym;
    case FileOperation::kRemove:
    case FileOperation::kRename:
    case FileOperation::kExchange:
      return landlock::kRemoveFile;
    case FileOperation::kExecute:  // is opened for reading, too
      return landlock::kExecute | landlock::kReadFile;
    case FileOperation::kRemoveDirectory:
      break;
  }
  return landlock::kRemoveDir;
}

std::string_view operation_word(FileOperation operation) {
  switch (operation) {
    case FileOperation::kRead:
      return "read";
    case FileOperation::kWrite:
    case FileOperation::kTruncate:
    case FileOperation::kAttributes:
      return "write";
    case FileOperation::kCreate:
    case FileOperation::kMakeDirectory:
    case FileOperation::kMakeNode:
    case FileOperation::kMakeSymlink:
      return "create";
    case FileOperation::kRemove:
    case FileOperation::kRemoveDirectory:
      return "remove";
    case FileOperation::kRename:
    case FileOperation::kExchange:
      return "rename";
    case FileOperation::kExecute:
      return "execute";
    case FileOperation::kLink:
      break;
  }
  return "link";
}

std::vector<FileOperation> open_operations(int flags, bool exists) {
  if ((flags & O_PATH) != 0) {
    return {};
  }
  const int mode = flags & O_ACCMODE;
  const bool temporary = (flags & O_TMPFILE) == O_TMPFILE;
  std::vector<FileOperation> operations;
  if (temporary || (!exists && (flags & O_CREAT) != 0)) {
    operations.push_back(FileOperation::kCreate);
  }
  if (temporary) {
    return operations;
  }
  if (mode != O_RDONLY) {
    operations.push_back(FileOperation::kWrite);
  }
  if (exists && (flags & O_TRUNC) != 0) {
    operations.push_back(FileOperation::kTruncate);
  }
  if (mode != O_WRONLY) {
    operations.push_back(FileOperation::kRead);
  }
  return operations;
}

}  // namespace aasm::backend_native
