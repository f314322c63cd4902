// SPDX-License-Identifier: BSD-3-Clause
#include "base/text_file.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tests/support/emulated.h"

namespace omx {
namespace {

class text_file : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "omx-text-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = folder / name;
    std::ofstream(path) << text;
    return path.string();
  }

  std::filesystem::path folder;
};

TEST_F(text_file, whole_and_first_line) {
  const std::string path = write("a", "one\ntwo\n");
  EXPECT_EQ(text_file_read(path), "one\ntwo\n");
  EXPECT_EQ(line_read(path), "one");
  EXPECT_EQ(line_read(write("b", "")), "");
}

TEST_F(text_file, a_file_of_proc) {
  OMX_SKIP_EMULATED("has its own name in /proc/self/comm");
  EXPECT_EQ(line_read("/proc/self/comm"), "base_test");
}

TEST_F(text_file, what_is_not_read) {
  EXPECT_EQ(text_file_read((folder / "none").string()).error(), ENOENT);
  EXPECT_EQ(line_read(folder.string()).error(), kNotRegularFile);
  EXPECT_EQ(text_file_read(write("big", "0123456789"), 9).error(), EFBIG);
  EXPECT_EQ(text_file_read((folder / "big").string(), 10), "0123456789");
}

TEST_F(text_file, names_in_a_folder_by_number) {
  for (const char* name : {"rx-10", "rx-2", "rx-0"}) write(name, "");
  EXPECT_THAT(folder_list(folder.string()), testing::ElementsAre("rx-0", "rx-2", "rx-10"));
  EXPECT_TRUE(folder_list((folder / "none").string()).empty());
}

}  // namespace
}  // namespace omx
