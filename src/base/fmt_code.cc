// SPDX-License-Identifier: BSD-3-Clause
// The compiled part of fmt, once for the whole project. Debian has it only as a shared library, and programs
// that link libmyriexpress.so shall not need libfmt too. FMT_HEADER_ONLY in every file would double the build
// time.
#include <fmt/format-inl.h>

namespace fmt {
inline namespace v9 {
namespace detail {

template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template void buffer<char>::append(const char*, const char*);

}  // namespace detail
}  // namespace v9
}  // namespace fmt
