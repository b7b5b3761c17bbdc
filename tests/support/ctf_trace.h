/* SPDX-License-Identifier: MIT
 *
 * Small traces of CTF, written event by event: metadata of a kernel and of user space, and streams
 * whose fields are all little-endian and end with a byte.
 */
#ifndef WEFT_TESTS_CTF_TRACE_H
#define WEFT_TESTS_CTF_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CT_STREAM_BYTES = 4096, CT_HEAD_BYTES = 24 };

__attribute__((unused)) static const char ct_common[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; } := u8; typealias integer { size = 32; } := u32;\n"
    "typealias integer { size = 64; } := u64;\n"
    "typealias integer { size = 64; map = clock.monotonic.value; } := time;\n"
    "trace { major = 1; minor = 8; byte_order = le;\n"
    "  packet.header := struct { u32 magic; }; };\n"
    "clock { name = monotonic; freq = 1000000000; offset_s = 100; };\n";

__attribute__((unused)) static const char ct_kernel[] =
    "env { domain = \"kernel\"; hostname = \"here\"; };\n"
    "stream { packet.context := struct { u32 content_size; u32 packet_size; u32 cpu_id;\n"
    "    u32 events_discarded; u32 packet_seq_num; };\n"
    "  event.header := struct { u8 id; time timestamp; }; };\n"
    "event { id = 0; name = sched_switch; fields := struct { u32 prev_tid; u32 next_tid;\n"
    "    u32 prev_state; string next_comm; }; };\n"
    "event { id = 1; name = \"sched_waking\"; fields := struct { u32 tid; u32 target_cpu; }; };\n"
    "event { id = 2; name = irq_handler_entry; fields := struct { u32 irq; string name; }; };\n"
    "event { id = 3; name = irq_handler_exit; fields := struct { u32 irq; }; };\n"
    "event { id = 4; name = sched_process_fork; fields := struct { u32 child_tid; u32 child_pid;\n"
    "    string child_comm; }; };\n"
    "event { id = 5; name = sched_process_exit; fields := struct { u32 tid; }; };\n"
    "event { id = 6; name = syscall_entry_openat; fields := struct { u32 dfd; string filename; }; "
    "};\n"
    "event { id = 7; name = syscall_exit_openat; fields := struct { u64 ret; }; };\n"
    "event { id = 8; name = tick; fields := struct { u8 n; u8 list[n]; }; };\n";

__attribute__((unused)) static const char ct_user[] =
    "env { domain = \"ust\"; hostname = \"here\"; };\n"
    "stream { packet.context := struct { u32 content_size; u32 packet_size; u32 cpu_id;\n"
    "    u32 events_discarded; u32 packet_seq_num; };\n"
    "  event.header := struct { u8 id; time timestamp; };\n"
    "  event.context := struct { u32 vtid; u32 vpid; string procname; }; };\n"
    "event { id = 0; name = \"lttng_ust_statedump:bin_info\"; fields := struct { u64 baddr;\n"
    "    u64 memsz; string path; u8 is_pic; }; };\n"
    "event { id = 1; name = \"lttng_ust_cyg_profile_fast:func_entry\"; fields := struct { u64 "
    "addr; "
    "}; };\n"
    "event { id = 2; name = \"lttng_ust_cyg_profile_fast:func_exit\"; fields := struct { }; };\n"
    "event { id = 3; name = \"lttng_ust_pthread:pthread_mutex_lock_req\"; fields := struct { u64 "
    "mutex; }; };\n"
    "event { id = 4; name = \"lttng_ust_pthread:pthread_mutex_lock_acq\"; fields := struct { u64 "
    "mutex; u32 status; }; };\n"
    "event { id = 5; name = \"lttng_ust_pthread:pthread_mutex_unlock\"; fields := struct { u64 "
    "mutex; u32 status; }; };\n"
    "event { id = 6; name = \"app:note\"; fields := struct { string text; }; };\n";

/* ---- writing -------------------------------------------------------------------------------- */

struct ct_stream {
    uint8_t bytes[CT_STREAM_BYTES];
    size_t n, packet_off;
};

__attribute__((unused)) static void ct_put(struct ct_stream *stream, uint64_t value,
                                           unsigned n_bytes)
{
    for (unsigned k = 0; k < n_bytes; k++)
        stream->bytes[stream->n++] = (uint8_t)(value >> 8 * k);
}

__attribute__((unused)) static void ct_put_text(struct ct_stream *stream, const char *text)
{
    memcpy(stream->bytes + stream->n, text, strlen(text) + 1);
    stream->n += strlen(text) + 1;
}

__attribute__((unused)) static void ct_begin(struct ct_stream *stream, unsigned cpu,
                                             unsigned discarded, unsigned sequence)
{
    stream->packet_off = stream->n;
    ct_put(stream, 0xc1fc1fc1, 4);
    ct_put(stream, 0, 8);
    ct_put(stream, cpu, 4);
    ct_put(stream, discarded, 4);
    ct_put(stream, sequence, 4);
}

__attribute__((unused)) static void ct_end(struct ct_stream *stream)
{
    const size_t n_bits = (stream->n - stream->packet_off) * 8;
    for (unsigned k = 0; k < 8; k++)
        stream->bytes[stream->packet_off + 4 + k] = (uint8_t)(n_bits >> 8 * (k % 4));
}

__attribute__((unused)) static void ct_event(struct ct_stream *stream, unsigned id,
                                             uint64_t time_ns)
{
    ct_put(stream, id, 1);
    ct_put(stream, time_ns, 8);
}

__attribute__((unused)) static void ct_put_switch(struct ct_stream *stream, uint64_t time_ns,
                                                  unsigned prev, unsigned next, unsigned state,
                                                  const char *comm)
{
    ct_event(stream, 0, time_ns);
    ct_put(stream, prev, 4);
    ct_put(stream, next, 4);
    ct_put(stream, state, 4);
    ct_put_text(stream, comm);
}

__attribute__((unused)) static void ct_put_numbers(struct ct_stream *stream, unsigned id,
                                                   uint64_t time_ns, unsigned a, unsigned b)
{
    ct_event(stream, id, time_ns);
    ct_put(stream, a, 4);
    if (id == 1)
        ct_put(stream, b, 4);
}

__attribute__((unused)) static void ct_put_fork(struct ct_stream *stream, uint64_t time_ns,
                                                unsigned child, const char *comm)
{
    ct_put_numbers(stream, 4, time_ns, child, 0);
    ct_put(stream, child, 4);
    ct_put_text(stream, comm);
}

#endif
