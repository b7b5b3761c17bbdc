/* SPDX-License-Identifier: MIT
 *
 * The header of an XRay log, 32 bytes:
 *
 *   u16 version | u16 type | u32 flags | u64 cycle frequency | 16 bytes free form
 *
 * Only bits 0 and 1 of the flags mean something: the rest is whatever was in memory. In the free
 * form bytes FDR keeps the buffer size.
 */
#include "base/cursor.h"
#include "ingest/xray/log.h"
#include "ingest/xray/xray.h"

#include <inttypes.h>

enum {
    BASIC_VERSIONS = 3,
    FDR_VERSIONS = 5,
    /* What sniffing takes for a version number of a log that is newer than this program. */
    PLAUSIBLE_VERSIONS = 63,
};

#define LEAST_HZ UINT64_C(1000)
#define MOST_HZ UINT64_C(1000000000000)

/* The least buffer that can hold a function record: NewBuffer, WallTime, NewCPU, function. */
#define LEAST_BUFFER_BYTES UINT64_C(56)

static bool is_plausible_hz(uint64_t frequency_hz)
{
    return frequency_hz == 0 || (frequency_hz >= LEAST_HZ && frequency_hz <= MOST_HZ);
}

bool weft_xray_sniff(const uint8_t *bytes, size_t n_bytes)
{
    struct weft_cursor in = weft_cur_init(bytes, n_bytes, 0);
    uint16_t version = weft_cur_u16(&in);
    uint16_t type = weft_cur_u16(&in);
    if (in.fault || version == 0 || version > PLAUSIBLE_VERSIONS || type > WEFT_XRAY_FDR)
        return false;
    weft_cur_u32(&in);
    uint64_t frequency_hz = weft_cur_u64(&in);
    return in.fault || is_plausible_hz(frequency_hz);
}

static enum weft_code check_header(const struct weft_xray_header *header, uint16_t type,
                                   struct weft_err *err)
{
    if (type > WEFT_XRAY_FDR)
        return weft_fail(err, WEFT_E_UNSUPPORTED, 2,
                         "expected log type 0 (basic) or 1 (FDR), found %" PRIu16, type);
    if (header->version == 0)
        return weft_fail(err, WEFT_E_MALFORMED, 0, "expected a version from 1 on, found 0");
    unsigned newest = type == WEFT_XRAY_FDR ? FDR_VERSIONS : BASIC_VERSIONS;
    if (header->version > newest)
        return weft_fail(err, WEFT_E_UNSUPPORTED, 0,
                         "expected %s log version 1 to %u, found %" PRIu16,
                         type == WEFT_XRAY_FDR ? "an FDR" : "a basic", newest, header->version);
    if (!is_plausible_hz(header->frequency_hz))
        return weft_fail(err, WEFT_E_MALFORMED, 8,
                         "expected a cycle frequency of 1 kHz to 1 THz, found %" PRIu64 " Hz",
                         header->frequency_hz);
    if (type == WEFT_XRAY_FDR && header->version == 1 && header->buffer_bytes < LEAST_BUFFER_BYTES)
        return weft_fail(err, WEFT_E_MALFORMED, 16,
                         "expected a buffer size of at least %" PRIu64 ", found %" PRIu64,
                         LEAST_BUFFER_BYTES, header->buffer_bytes);
    return WEFT_OK;
}

enum weft_code weft_xray_read_header(const struct weft_mapped *file,
                                     struct weft_xray_header *header, struct weft_err *err)
{
    struct weft_cursor in = weft_cur_init(file->bytes, file->n_bytes, 0);
    header->version = weft_cur_u16(&in);
    uint16_t type = weft_cur_u16(&in);
    uint32_t flags = weft_cur_u32(&in);
    header->frequency_hz = weft_cur_u64(&in);
    header->buffer_bytes = weft_cur_u64(&in);
    weft_cur_u64(&in);
    if (in.fault)
        return weft_fail(err, WEFT_E_TRUNCATED, 0,
                         "expected an XRay header of %d bytes, found %" PRIu64,
                         WEFT_XRAY_HEADER_BYTES, file->n_bytes);
    header->is_constant_tsc = flags & 1;
    header->is_nonstop_tsc = flags >> 1 & 1;
    header->mode = type == WEFT_XRAY_FDR ? WEFT_XRAY_FDR : WEFT_XRAY_BASIC;
    return check_header(header, type, err);
}
