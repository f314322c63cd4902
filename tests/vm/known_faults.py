# SPDX-License-Identifier: BSD-3-Clause
"""Faults that are not of Open-MX, by model and feature, with the reason as the table gives it."""

KNOWN = {}
