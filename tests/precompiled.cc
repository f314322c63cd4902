// SPDX-License-Identifier: BSD-3-Clause
// The program whose precompiled headers all tests use; it is never linked.
int main() {
  return 0;
}
