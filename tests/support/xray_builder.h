/* SPDX-License-Identifier: MIT
 *
 * Builds XRay logs byte by byte, in every version. Bytes that the format leaves undefined are
 * filled with junk, as the runtime leaves them.
 */
#ifndef WEFT_TESTS_XRAY_BUILDER_H
#define WEFT_TESTS_XRAY_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { XB_ENTER = 0, XB_EXIT = 1, XB_TAIL = 2, XB_ENTER_ARG = 3 };

struct xb {
    uint8_t *bytes;
    size_t n_bytes, cap;
    unsigned version;
};

__attribute__((unused)) static void xb_fini(struct xb *log)
{
    free(log->bytes);
    *log = (struct xb){ 0 };
}

__attribute__((unused)) static void xb_int(struct xb *log, uint64_t value, size_t n_bytes)
{
    if (log->n_bytes + n_bytes > log->cap) {
        log->cap = (log->cap + n_bytes) * 2;
        log->bytes = realloc(log->bytes, log->cap);
        if (!log->bytes)
            abort();
    }
    for (size_t k = 0; k < n_bytes; k++)
        log->bytes[log->n_bytes++] = (uint8_t)(k < 8 ? value >> 8 * k : 0);
}

__attribute__((unused)) static void xb_bytes(struct xb *log, const void *bytes, size_t n_bytes)
{
    for (size_t k = 0; k < n_bytes; k++)
        xb_int(log, ((const uint8_t *)bytes)[k], 1);
}

__attribute__((unused)) static void xb_junk_to(struct xb *log, size_t n_bytes)
{
    while (log->n_bytes < n_bytes)
        xb_int(log, 0xa0 + log->n_bytes % 32, 1);
}

/* type 0 basic, 1 FDR; the flags' upper bits are junk. */
__attribute__((unused)) static void xb_header(struct xb *log, unsigned version, unsigned type,
                                              uint64_t frequency_hz, uint64_t buffer_bytes)
{
    log->version = version;
    xb_int(log, version, 2);
    xb_int(log, type, 2);
    xb_int(log, 0xff, 4);
    xb_int(log, frequency_hz, 8);
    xb_int(log, buffer_bytes, 8);
    xb_int(log, 0, 8);
}

/* A metadata record of kind `kind`: fields in order, junk up to 16 bytes. */
__attribute__((unused)) static void xb_metadata(struct xb *log, unsigned kind, uint64_t a,
                                                size_t n_a, uint64_t b, size_t n_b, uint64_t c,
                                                size_t n_c)
{
    size_t end = log->n_bytes + 16;
    xb_int(log, kind << 1 | 1, 1);
    xb_int(log, a, n_a);
    xb_int(log, b, n_b);
    xb_int(log, c, n_c);
    xb_junk_to(log, end);
}

/* Begins a buffer; from version 2 on its extents are filled in by xb_end_buffer. */
__attribute__((unused)) static size_t xb_begin_buffer(struct xb *log)
{
    size_t at = log->n_bytes;
    if (log->version >= 2)
        xb_metadata(log, 7, 0, 8, 0, 0, 0, 0);
    return at;
}

__attribute__((unused)) static void xb_end_buffer(struct xb *log, size_t at, uint64_t buffer_bytes)
{
    if (log->version == 1) {
        xb_metadata(log, 1, 0, 0, 0, 0, 0, 0);
        xb_junk_to(log, at + (size_t)buffer_bytes);
        return;
    }
    uint64_t n_bytes = log->n_bytes - at - 16;
    for (size_t k = 0; k < 8; k++)
        log->bytes[at + 1 + k] = (uint8_t)(n_bytes >> 8 * k);
}

__attribute__((unused)) static void xb_new_buffer(struct xb *log, uint32_t tid)
{
    xb_metadata(log, 0, tid, 4, 0, 0, 0, 0);
}

__attribute__((unused)) static void xb_cpu(struct xb *log, unsigned cpu, uint64_t tsc)
{
    xb_metadata(log, 2, cpu, 2, tsc, 8, 0, 0);
}

__attribute__((unused)) static void xb_wrap(struct xb *log, uint64_t tsc)
{
    xb_metadata(log, 3, tsc, 8, 0, 0, 0, 0);
}

__attribute__((unused)) static void xb_wall(struct xb *log, uint64_t seconds, uint32_t micros)
{
    xb_metadata(log, 4, seconds, 8, micros, 4, 0, 0);
}

__attribute__((unused)) static void xb_pid(struct xb *log, uint32_t pid)
{
    if (log->version >= 3)
        xb_metadata(log, 9, pid, 4, 0, 0, 0, 0);
}

/* What stands before the first function of a buffer. */
__attribute__((unused)) static void xb_head(struct xb *log, uint32_t tid, uint32_t pid,
                                            unsigned cpu, uint64_t tsc)
{
    xb_new_buffer(log, tid);
    xb_wall(log, tsc / 1000000000, (uint32_t)(tsc / 1000 % 1000000));
    xb_pid(log, pid);
    xb_cpu(log, cpu, tsc);
}

__attribute__((unused)) static void xb_function(struct xb *log, unsigned kind, uint32_t id,
                                                uint32_t delta)
{
    xb_int(log, kind << 1 | (uint64_t)id << 4, 4);
    xb_int(log, delta, 4);
}

__attribute__((unused)) static void xb_argument(struct xb *log, uint64_t value)
{
    xb_metadata(log, 6, value, 8, 0, 0, 0, 0);
}

/* `time` is a delta from version 5 on, else absolute. */
__attribute__((unused)) static void xb_custom(struct xb *log, uint64_t time, unsigned cpu,
                                              const void *bytes, uint32_t n_bytes)
{
    xb_metadata(log, 5, n_bytes, 4, time, log->version >= 5 ? 4 : 8, cpu,
                log->version == 4 ? 2 : 0);
    xb_bytes(log, bytes, n_bytes);
}

__attribute__((unused)) static void xb_typed(struct xb *log, uint64_t time, unsigned type,
                                             const void *bytes, uint32_t n_bytes)
{
    xb_metadata(log, 8, n_bytes, 4, time, log->version >= 5 ? 4 : 8, type, 2);
    xb_bytes(log, bytes, n_bytes);
}

/* Basic mode. */
__attribute__((unused)) static void xb_basic(struct xb *log, unsigned cpu, unsigned kind,
                                             uint32_t id, uint64_t tsc, uint32_t tid, uint32_t pid)
{
    xb_int(log, 0, 2);
    xb_int(log, cpu, 1);
    xb_int(log, kind, 1);
    xb_int(log, id, 4);
    xb_int(log, tsc, 8);
    xb_int(log, tid, 4);
    xb_int(log, pid, 4);
    xb_int(log, UINT64_C(0xa5a5a5a5a5a5a5a5), 8);
}

__attribute__((unused)) static void xb_basic_argument(struct xb *log, uint32_t id, uint64_t value,
                                                      uint32_t tid, uint32_t pid)
{
    xb_int(log, 1, 2);
    xb_int(log, 0xa5a5, 2);
    xb_int(log, id, 4);
    xb_int(log, tid, 4);
    xb_int(log, pid, 4);
    xb_int(log, value, 8);
    xb_int(log, UINT64_C(0xa5a5a5a5a5a5a5a5), 8);
}

#endif
