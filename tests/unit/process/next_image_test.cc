#include "aasm/process/next_image.h"

#include <elf.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "temp_dir.h"

namespace aasm::process {
namespace {

using Kind = NextImage::Kind;

template <class T>
std::string bytes_of(const T& value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// An ELF file with one segment, which holds `content` behind the headers.
template <class Header, class Segment>
std::string elf(unsigned char elf_class, std::uint32_t type, const std::string& content) {
  Header header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = elf_class;
  header.e_type = ET_DYN;
  header.e_phentsize = sizeof(Segment);
  header.e_phnum = 1;
  header.e_phoff = sizeof(Header);
  Segment segment = {};
  segment.p_type = type;
  segment.p_offset = sizeof(Header) + sizeof(Segment);
  segment.p_filesz = static_cast<decltype(segment.p_filesz)>(content.size());
  return bytes_of(header) + bytes_of(segment) + content;
}

std::string elf64(std::uint32_t type, const std::string& content) {
  return elf<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, type, content);
}

class NextImageTest : public testing::Test {
 protected:
  NextImage of(const std::string& content) {
    const std::string path = dir_.file("program");
    std::ofstream(path, std::ios::binary) << content;
    const schema::Result<NextImage> next = next_image(path);
    EXPECT_TRUE(next);
    return next ? *next : NextImage();
  }
  void expect(const std::string& content, Kind kind, const std::string& path = "") {
    const NextImage next = of(content);
    EXPECT_EQ(next.kind, kind) << testing::PrintToString(content);
    EXPECT_EQ(next.path, path);
  }

  test::TempDir dir_;
};

TEST_F(NextImageTest, AScriptNamesItsInterpreterAsItSpellsIt) {
  expect("#!/bin/sh -e\n", Kind::kInterpreter, "/bin/sh");
  expect("#! ./tool\n", Kind::kInterpreter, "./tool");
  expect("#!\n", Kind::kRefused);
}

TEST_F(NextImageTest, AnElfFileNamesItsLoader) {
  expect(elf64(PT_INTERP, std::string("/lib/ld.so\0", 11)), Kind::kLoader, "/lib/ld.so");
  expect(elf<Elf32_Ehdr, Elf32_Phdr>(ELFCLASS32, PT_INTERP, std::string("/lib/ld\0", 8)),
         Kind::kLoader, "/lib/ld");
  expect(elf64(PT_LOAD, std::string("/lib/ld.so\0", 11)), Kind::kNone);
}

TEST_F(NextImageTest, AnElfFileThatTheKernelRefusesIsRefused) {
  expect(
      "\x7F"
      "ELF",
      Kind::kRefused);
  expect(elf64(PT_INTERP, "/lib/ld.so"), Kind::kRefused);  // no NUL
  expect(elf64(PT_INTERP, std::string(1, '\0')), Kind::kRefused);
  expect(elf64(PT_INTERP, std::string(4097, '\0')), Kind::kRefused);
  expect(elf64(PT_INTERP, std::string("/lib/ld.so\0", 11)).substr(0, 125), Kind::kRefused);
}

TEST_F(NextImageTest, NothingIsSaidOfWhatIsNeither) {
  expect("echo\n", Kind::kNone);
  expect("", Kind::kNone);
  ASSERT_EQ(::mkfifo(dir_.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(next_image(dir_.file("pipe")).value().kind, Kind::kNone);
  EXPECT_FALSE(next_image(dir_.file("absent")));
}

// What the tests of this machine run with: not the same everywhere, so it is only looked at.
TEST_F(NextImageTest, AProgramOfThisHostHasALoaderThatIsThere) {
  const NextImage next = next_image("/proc/self/exe").value();
  if (next.kind == Kind::kLoader) {
    EXPECT_TRUE(std::ifstream(next.path).good()) << next.path;
  }
}

}  // namespace
}  // namespace aasm::process
