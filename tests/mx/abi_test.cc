// SPDX-License-Identifier: BSD-3-Clause
// The interface as a program sees it: headers in C and C++, prototypes, data symbols, dlopen. Linked with the
// shared library.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "abi_layout.h"
#include "abi_prototypes.h"

extern "C" int abi_prototypes_c(void);

namespace {

TEST(abi, every_function_is_there_in_c_and_cxx) {
  EXPECT_EQ(prototypes_count(), 65);
  EXPECT_EQ(abi_prototypes_c(), 65);
}

// Programs reach these by copy relocation, so the pointers must be equal in the program and in the library.
TEST(abi, predefined_handlers_are_data) {
  void* const in_library = dlsym(RTLD_DEFAULT, "MX_ERRORS_RETURN");
  ASSERT_NE(in_library, nullptr);
  EXPECT_EQ(*static_cast<mx_error_handler_t*>(in_library), MX_ERRORS_RETURN);
  mx_set_error_handler(MX_ERRORS_RETURN);
  EXPECT_EQ(mx_set_error_handler(MX_ERRORS_ARE_FATAL), MX_ERRORS_RETURN);
}

TEST(abi, versioned_symbols_are_the_default_ones) {
  for (const auto& [name, version] : {std::pair("mx__init_api", "MX_0.92"),
                                      {"mx_test", "MX_0.91"},
                                      {"mx_wait", "MX_0.91"},
                                      {"mx_iprobe", "MX_0.91"},
                                      {"mx_get_info", "MX_0.91"},
                                      {"mx_open_endpoint", "MX_0.9"},
                                      {"mx_decompose_endpoint_addr", "MX_0.9"}}) {
    void* const found = dlvsym(RTLD_DEFAULT, name, version);
    EXPECT_NE(found, nullptr) << name;
    EXPECT_EQ(found, dlsym(RTLD_DEFAULT, name)) << name;
  }
}

// Some MPI libraries open it by name.
TEST(abi, can_be_opened_by_name) {
  void* const library = dlopen("libmyriexpress.so", RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(dlsym(library, "mx_isend"), reinterpret_cast<void*>(mx_isend));
  dlclose(library);
}

}  // namespace
