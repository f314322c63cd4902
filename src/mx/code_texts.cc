// SPDX-License-Identifier: BSD-3-Clause
#include "mx/code_texts.h"

#include <array>
#include <iterator>

#include "myriexpress.h"

namespace omx::mx {

namespace {

constexpr const char* kCodeTexts[] = {
    "success",
    "internal error or bad argument",
    "failure",
    "already initialized",
    "not initialized",
    "no usable network interface",
    "no driver",
    "permission denied",
    "no such board",
    "bad endpoint",
    "bad segment list",
    "bad segment memory",
    "bad segment count",
    "bad request",
    "match information outside the match mask",
    "no resources available",
    "bad address list",
    "bad address count",
    "bad root",
    "not completed",
    "busy: already in use",
    "bad information key",
    "bad information value",
    "bad NIC",
    "bad parameter list",
    "bad parameter name",
    "bad parameter value",
    "bad hostname argument",
    "host not found",
    "request pending",
    "timeout",
    "no match",
    "bad endpoint id",
    "connection failed: the remote endpoint is not open",
    "bad connection key",
    "information buffer of wrong length",
    "NIC not found",
    "bad kernel driver version",
    "bad library version",
    "NIC dead",
    "cancel not supported",
    "endpoint closed inside its handler",
    "match mask covers only a part of the context id",
    "not supported with context ids",
};
static_assert(std::size(kCodeTexts) == MX_NOT_SUPPORTED_WITH_CONTEXT_ID + 1);

// Codes from OMX_CANCELLED (90) on, which only open-mx.h has.
constexpr const char* kNativeTexts[] = {
    "cancelled",
    "remote memory window unknown",
    "remote endpoint unreachable",
    "remote endpoint was restarted",
    "message aborted",
    "message truncated",
    "not supported inside a handler",
    "no system resources available",
    nullptr,  // not used
    "not implemented",
};
static_assert(OMX_CANCELLED + std::size(kNativeTexts) == OMX_NOT_IMPLEMENTED + 1);

constexpr const char* kStatusTexts[] = {
    "success",
    "pending",
    "buffered",
    "rejected",
    "timeout",
    "message truncated",
    "cancelled",
    "endpoint unknown",
    "remote endpoint closed",
    "remote endpoint unreachable",
    "bad session: the remote endpoint was restarted",
    "bad connection key",
    "bad endpoint",
    "bad remote memory window",
    "aborted",
    "event queue full",
    "no resources available",
};
static_assert(std::size(kStatusTexts) == MX_STATUS_NO_RESOURCES + 1);

struct Pair {
  protocol::Status status;
  Code code;
};
constexpr Pair kPairs[] = {
    {protocol::Status::success, OMX_SUCCESS},
    {protocol::Status::timeout, OMX_TIMEOUT},
    {protocol::Status::truncated, OMX_MESSAGE_TRUNCATED},
    {protocol::Status::cancelled, OMX_CANCELLED},
    {protocol::Status::endpoint_closed, OMX_REMOTE_ENDPOINT_CLOSED},
    {protocol::Status::endpoint_unreachable, OMX_REMOTE_ENDPOINT_UNREACHABLE},
    {protocol::Status::bad_session, OMX_REMOTE_ENDPOINT_BAD_SESSION},
    {protocol::Status::bad_key, OMX_REMOTE_ENDPOINT_BAD_KEY},
    {protocol::Status::bad_endpoint, OMX_REMOTE_ENDPOINT_BAD_ID},
    {protocol::Status::bad_rdma_window, OMX_REMOTE_RDMA_WINDOW_BAD_ID},
    {protocol::Status::aborted, OMX_MESSAGE_ABORTED},
    {protocol::Status::no_resources, OMX_NO_RESOURCES},
};

template <std::size_t N>
const char* text_at(const char* const (&texts)[N], int index) {
  return index >= 0 && static_cast<std::size_t>(index) < N ? texts[index] : nullptr;
}

}  // namespace

const char* code_text(int code) {
  const char* text =
      code < OMX_CANCELLED ? text_at(kCodeTexts, code) : text_at(kNativeTexts, code - OMX_CANCELLED);
  return text ? text : "unknown return code";
}

const char* status_text(int status) {
  const char* text = text_at(kStatusTexts, status);
  return text ? text : "unknown status code";
}

Code code_of_status(protocol::Status status) {
  for (const Pair& pair : kPairs)
    if (pair.status == status) return pair.code;
  return OMX_FAILURE;
}

int mx_status_of_code(int code) {
  for (const Pair& pair : kPairs)
    if (pair.code == code) return static_cast<int>(pair.status);
  return code == OMX_NO_SYSTEM_RESOURCES ? MX_STATUS_NO_RESOURCES : -1;
}

}  // namespace omx::mx
