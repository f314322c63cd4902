// SPDX-License-Identifier: BSD-3-Clause
#include "base/messages/sections.h"

namespace omx::messages {

namespace {
constexpr Entry kEntries[] = {
    {500, "a call of MX failed",
     "A call returned an error, and the error handler ends the process. The text of the code says what "
     "failed.",
     "What the text says: a bad argument, a call before mx_init, or one at the wrong time.",
     "Look the code up in the table of return codes (docs/reference/errors.md), and the function in its "
     "manual page.",
     "{} (error {}: {})\n"},
    {501, "a message was truncated", "The receive was shorter than the message. Its beginning was delivered.",
     "Sender and receiver do not agree on the length.", "Post a longer receive. The status has both lengths.",
     "{} truncated to {} of {} bytes\n"},
    {502, "not a request", "The handle is no pending request of this endpoint.",
     "The request was completed, forgotten or cancelled before, or belongs to another endpoint.",
     "Use each handle once, and with the endpoint that gave it.",
     "it is no request of this endpoint, or was completed or forgotten before\n"
     "no request\n"},
    {503, "the request cannot be cancelled",
     "Only a receive or a connect that is not completed can be cancelled.",
     "The request is a send, or is completed.", "Test it instead.",
     "neither a receive nor a connect of this endpoint that is not completed yet (a send cannot be "
     "cancelled)\n"},
    {504, "not an address of this endpoint",
     "The destination was not returned by a connect of this endpoint.",
     "An address of another endpoint was used, or one that was never set.",
     "Connect first, with the endpoint that sends.",
     "the destination is not an address of this endpoint\n"
     "the address belongs to no open endpoint\n"
     "not an address of this endpoint\n"},
    {505, "the segments are wrong", "The list of segments of a send or receive is malformed.",
     "There are too many, the list is NULL, or a segment is at address NULL.",
     "Give at most 256 segments with valid addresses.",
     "{} segments given, {} possible\n"
     "{} segments, but no list\n"
     "segment {} of {} bytes is at address NULL\n"},
    {506, "the message is too long", "A message has at most 4 GiB - 1.",
     "The lengths of its segments are larger in sum.", "Send it in parts.",
     "{} bytes given, a message has at most 4294967295\n"},
    {507, "the function is not supported",
     "The function is in the headers of MX and was never part of Open-MX.",
     "The program uses one-sided operations or another rare function.", "Use what the message names instead.",
     "one-sided operations are not supported, use mx_isend and mx_irecv\n"
     "not supported, use mx_register_unexp_handler\n"},
    {508, "an argument is NULL", "An argument that must point to something is NULL.",
     "A fault of the program.", "Give a valid pointer.",
     "{} is NULL\n"
     "out_val is NULL\n"},
    {509, "a parameter of mx_open_endpoint is wrong",
     "The list of parameters is missing, or holds an unknown key.", "A fault of the program.",
     "Use the keys of myriexpress.h.",
     "{} parameters, but no list\n"
     "no parameter has key {}\n"},
    {510, "mx_get_info was called wrongly",
     "The key is unknown, or the lengths of input or output do not fit.", "A fault of the program.",
     "Compare the call with \"man mx_get_info\".",
     "this information needs an input value\n"
     "{} bytes of room, {} needed\n"
     "no information has key {}\n"
     "counter {} of {}\n"
     "board {} of {}\n"},
    {511, "called from a handler", "The function cannot be called from the handler of an endpoint.",
     "The handler closes its endpoint or ends the library.", "Leave the handler first.",
     "called from the endpoint's handler\n"
     "called from the handler of an endpoint\n"},
    {512, "not an open endpoint", "The handle is no endpoint that is open.",
     "The endpoint was closed, or the variable was never set.", "Open the endpoint first, and close it last.",
     "not an open endpoint\n"},
    {513, "out of memory", "An allocation failed.",
     "The limit of the process, of its cgroup or of the host is reached.",
     "Free memory, or raise the limit (ulimit -v).",
     "out of memory\n"
     "out of memory; free some or raise the limit (ulimit -v)\n"},
    {514, "the process waits for a debugger",
     "A call has failed, and the process ends after OMX_ABORT_SLEEPS seconds.",
     "The message before this one names the failure.", "Attach a debugger (\"gdb -p PID\"), or let it end.",
     "process {} ends in {} s: time for a debugger\n"},
};
}  // namespace

constinit const Section kSectionCalls{"A call or a request fails", kEntries};

}  // namespace omx::messages
