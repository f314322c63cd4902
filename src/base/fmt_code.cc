// SPDX-License-Identifier: BSD-3-Clause
// The compiled part of fmt, once for the whole project. Debian has it only as a shared library, and programs
// that link libmyriexpress.so shall not need libfmt too. FMT_HEADER_ONLY in every file would double the build
// time.
#include <fmt/format-inl.h>

// Version 9 has its functions in fmt::v9 and so on. Only this macro of fmt knows the name.
FMT_BEGIN_NAMESPACE
namespace detail {

template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template void buffer<char>::append(const char*, const char*);
#if FMT_VERSION < 90000
template auto format_float(double, int, float_specs, buffer<char>&) -> int;
template auto format_float(long double, int, float_specs, buffer<char>&) -> int;
template auto snprintf_float(double, int, float_specs, buffer<char>&) -> int;
template auto snprintf_float(long double, int, float_specs, buffer<char>&) -> int;
#endif
// Before, this one is compiled where it is used. Later, it is no template.
#if FMT_VERSION >= 100000 && FMT_VERSION < 110000
template void vformat_to(buffer<char>&, string_view, vformat_args<>::type, locale_ref);
#endif

}  // namespace detail
FMT_END_NAMESPACE
