/* SPDX-License-Identifier: MIT
 *
 * The index of an FDR log: hops from buffer to buffer and reads only their heads.
 *
 *   version 1:   | NewBuffer WallTime NewCPU ... EndOfBuffer junk |  buffer_bytes each
 *   version 2 on: BufferExtents(n) | NewBuffer WallTime [Pid] NewCPU ... |  n bytes, no padding
 *
 * A thread's last buffers may stand in the file twice (the runtime's queue stores a released
 * buffer in another buffer's slot): byte-identical copies are marked as duplicates.
 */
#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "ingest/xray/log.h"

#include <string.h>

/* Of several buffers that begin at the same time stamp, at most this many are compared. */
enum { MOST_TWINS = 64 };

/* What the head of a buffer says. */
struct head {
    uint64_t tid, pid;
    uint64_t first_tsc;
    uint64_t wall_us; /* CLOCK_MONOTONIC */
    bool has_tid, has_tsc, has_wall;
    bool has_events; /* something before the time stamp that needs one */
    bool is_damaged;
};

struct hopper {
    const struct weft_mapped *file;
    const struct weft_xray_header *header;
    struct weft_xray_index *index;
    struct weft_map *thread_of;
    uint64_t kept_off; /* pages before it were let go */
    struct {
        struct wall {
            uint64_t tsc, us;
        } first, last;
        bool is_set;
    } wall;
};

static void read_wall(struct weft_cursor *payload, struct head *head)
{
    uint64_t seconds = weft_cur_u64(payload);
    uint32_t micros = weft_cur_u32(payload);
    if (head->has_wall || seconds > UINT64_C(1) << 32 || micros >= 1000000)
        return;
    head->has_wall = true;
    head->wall_us = seconds * 1000000 + micros;
}

/* Events before the first absolute time stamp: older versions carry one themselves. */
static void read_event(const struct weft_xray_header *header, struct weft_cursor *in,
                       struct weft_cursor *payload, struct head *head)
{
    uint32_t n_bytes = weft_cur_u32(payload);
    if (header->version < 5) {
        head->first_tsc = weft_cur_u64(payload);
        head->has_tsc = true;
    }
    head->has_events = true;
    head->is_damaged = n_bytes > INT32_MAX || !weft_cur_take(in, n_bytes);
}

static void read_metadata(const struct weft_xray_header *header, struct weft_cursor *in,
                          struct head *head)
{
    struct weft_cursor payload = weft_cur_sub(in, WEFT_XRAY_METADATA_BYTES);
    switch (weft_cur_u8(&payload) >> 1) {
    case WEFT_XRAY_NEW_BUFFER:
        head->is_damaged = head->has_tid;
        head->has_tid = true;
        head->tid = weft_cur_u32(&payload);
        break;
    case WEFT_XRAY_NEW_CPU:
        weft_cur_u16(&payload);
        head->first_tsc = weft_cur_u64(&payload);
        head->has_tsc = true;
        break;
    case WEFT_XRAY_TSC_WRAP:
        head->first_tsc = weft_cur_u64(&payload);
        head->has_tsc = true;
        break;
    case WEFT_XRAY_WALL_TIME:
        read_wall(&payload, head);
        break;
    case WEFT_XRAY_PID:
        head->pid = weft_cur_u32(&payload);
        break;
    case WEFT_XRAY_CUSTOM_EVENT:
    case WEFT_XRAY_TYPED_EVENT:
        read_event(header, in, &payload, head);
        break;
    case WEFT_XRAY_CALL_ARGUMENT:
        head->has_events = true;
        break;
    default:
        head->is_damaged = true;
        break;
    }
}

/* Reads up to the first absolute time stamp. Functions before it are the decoder's business, if one
 * comes. */
static struct head read_head(const struct weft_xray_header *header, struct weft_cursor in)
{
    struct head head = { 0 };
    while (!head.has_tsc && !head.is_damaged && weft_cur_left(&in) > 0) {
        bool is_metadata = *in.at & 1;
        if (!head.has_tid && *in.at != WEFT_XRAY_INTRODUCER(WEFT_XRAY_NEW_BUFFER))
            head.is_damaged = true;
        else if (weft_cur_left(&in) <
                 (is_metadata ? WEFT_XRAY_METADATA_BYTES : WEFT_XRAY_FUNCTION_BYTES))
            head.is_damaged = true;
        else if (is_metadata)
            read_metadata(header, &in, &head);
        else
            head.has_events = weft_cur_take(&in, WEFT_XRAY_FUNCTION_BYTES) != NULL;
    }
    return head;
}

static enum weft_code find_thread(struct hopper *hop, const struct head *head, uint32_t *thread,
                                  struct weft_err *err)
{
    bool is_new = false;
    *thread = weft_map_add(hop->thread_of, head->pid << 32 | head->tid, &is_new);
    if (*thread == WEFT_MAP_NONE)
        return weft_no_memory(err, "a set of threads");
    if (is_new) {
        struct weft_xray_thread *fresh = WEFT_VEC_PUSH(&hop->index->threads);
        if (!fresh)
            return weft_no_memory(err, "the table of threads");
        *fresh = (struct weft_xray_thread){ .tid = head->tid,
                                            .pid = head->pid,
                                            .first_tsc = head->first_tsc };
    }
    struct weft_xray_thread *known = &hop->index->threads.items[*thread];
    if (head->first_tsc < known->first_tsc)
        known->first_tsc = head->first_tsc;
    return WEFT_OK;
}

static void keep_wall(struct hopper *hop, const struct head *head)
{
    if (!head->has_wall)
        return;
    const struct wall here = { head->first_tsc, head->wall_us };
    if (!hop->wall.is_set || here.tsc < hop->wall.first.tsc)
        hop->wall.first = here;
    if (!hop->wall.is_set || here.tsc > hop->wall.last.tsc)
        hop->wall.last = here;
    hop->wall.is_set = true;
}

/* One buffer of `n_bytes` records at `at_off`, of which `n_missing` bytes lie past the file's end.
 */
static enum weft_code add_buffer(struct hopper *hop, uint64_t at_off, uint64_t n_bytes,
                                 uint64_t n_missing, struct weft_err *err)
{
    struct weft_xray_index *index = hop->index;
    index->n_buffers++;
    struct head head =
        read_head(hop->header, weft_cur_init(hop->file->bytes + at_off, n_bytes, at_off));
    if (!head.has_tsc) {
        struct weft_xray_tally *lost =
            n_missing ? &index->losses.missing_bytes : &index->losses.bad_bytes;
        if (n_missing || head.is_damaged || head.has_events)
            weft_xray_tally_add(lost, n_bytes, at_off);
        weft_xray_tally_add(&index->losses.missing_bytes, n_missing, at_off + n_bytes);
        return WEFT_OK;
    }
    uint32_t thread;
    WEFT_TRY(find_thread(hop, &head, &thread, err));
    keep_wall(hop, &head);
    weft_xray_tally_add(&index->threads.items[thread].losses.missing_bytes, n_missing,
                        at_off + n_bytes);
    struct weft_xray_piece *piece = WEFT_VEC_PUSH(&index->pieces);
    if (!piece)
        return weft_no_memory(err, "the table of buffers");
    *piece = (struct weft_xray_piece){
        .first_tsc = head.first_tsc,
        .at_off = at_off,
        .n_bytes = n_bytes,
        .thread = thread,
        .is_truncated = n_missing != 0,
    };
    return WEFT_OK;
}

/* Once a step, lets go of what lies before `off`. */
static void let_go(struct hopper *hop, uint64_t off)
{
    if (off - hop->kept_off < WEFT_XRAY_STEP_BYTES)
        return;
    weft_xray_let_go(hop->file, hop->kept_off, off);
    hop->kept_off = off;
}

static enum weft_code hop_fixed(struct hopper *hop, struct weft_err *err)
{
    uint64_t n_file = hop->file->n_bytes;
    uint64_t n_buffer = hop->header->buffer_bytes;
    for (uint64_t off = WEFT_XRAY_HEADER_BYTES; off < n_file;) {
        let_go(hop, off);
        uint64_t n_bytes = n_buffer < n_file - off ? n_buffer : n_file - off;
        WEFT_TRY(add_buffer(hop, off, n_bytes, n_buffer - n_bytes, err));
        off += n_bytes;
    }
    return WEFT_OK;
}

/* True if a buffer may begin at `off`: extents, then NewBuffer, as far as the file goes. */
static bool is_buffer(const struct weft_mapped *file, uint64_t off)
{
    if (off >= file->n_bytes)
        return off == file->n_bytes;
    const uint8_t *at = file->bytes + off;
    uint64_t n_left = file->n_bytes - off;
    if (at[0] != WEFT_XRAY_INTRODUCER(WEFT_XRAY_BUFFER_EXTENTS))
        return false;
    if (n_left <= WEFT_XRAY_METADATA_BYTES)
        return true;
    uint8_t first = at[WEFT_XRAY_METADATA_BYTES];
    return first == WEFT_XRAY_INTRODUCER(WEFT_XRAY_NEW_BUFFER) ||
           first == WEFT_XRAY_INTRODUCER(WEFT_XRAY_BUFFER_EXTENTS);
}

/* After damage: the next place from `off` on that looks like extents, NewBuffer, WallTime. */
static uint64_t find_buffer(const struct weft_mapped *file, uint64_t off)
{
    const uint64_t n_look = 2 * WEFT_XRAY_METADATA_BYTES + 1;
    while (file->n_bytes >= n_look && off <= file->n_bytes - n_look) {
        const uint8_t *at = file->bytes + off;
        const uint8_t *hit = memchr(at, WEFT_XRAY_INTRODUCER(WEFT_XRAY_BUFFER_EXTENTS),
                                    file->n_bytes - n_look - off + 1);
        if (!hit)
            break;
        if (hit[WEFT_XRAY_METADATA_BYTES] == WEFT_XRAY_INTRODUCER(WEFT_XRAY_NEW_BUFFER) &&
            hit[2 * WEFT_XRAY_METADATA_BYTES] == WEFT_XRAY_INTRODUCER(WEFT_XRAY_WALL_TIME))
            return (uint64_t)(hit - file->bytes);
        off = (uint64_t)(hit - file->bytes) + 1;
    }
    return file->n_bytes;
}

/* The records of the buffer whose extents stand at `off`; *next is where the hop continues. When
 * the extents do not lead to another buffer they, or what follows them, are damaged: the next thing
 * that looks like a buffer bounds this one, and what lies between is lost. */
static enum weft_code hop_extents(struct hopper *hop, uint64_t off, uint64_t *next,
                                  struct weft_err *err)
{
    uint64_t n_file = hop->file->n_bytes;
    uint64_t begin = off + WEFT_XRAY_METADATA_BYTES;
    uint64_t n_bytes = weft_load_u64(hop->file->bytes + off + 1);
    uint64_t n_left = n_file - begin;
    if (n_bytes <= n_left && is_buffer(hop->file, begin + n_bytes)) {
        *next = begin + n_bytes;
        return n_bytes ? add_buffer(hop, begin, n_bytes, 0, err) : WEFT_OK;
    }
    uint64_t found = find_buffer(hop->file, begin);
    *next = found;
    uint64_t n_most = found - begin;
    if (n_bytes > n_left && found == n_file && n_bytes <= hop->header->buffer_bytes)
        return add_buffer(hop, begin, n_left, n_bytes - n_left, err);
    if (n_bytes < n_most)
        weft_xray_tally_add(&hop->index->losses.bad_bytes, n_most - n_bytes, begin + n_bytes);
    else if (n_bytes > n_most)
        weft_xray_tally_add(&hop->index->losses.bad_bytes, WEFT_XRAY_METADATA_BYTES, off);
    return add_buffer(hop, begin, n_bytes < n_most ? n_bytes : n_most, 0, err);
}

static enum weft_code hop_all_extents(struct hopper *hop, struct weft_err *err)
{
    const struct weft_mapped *file = hop->file;
    struct weft_xray_losses *losses = &hop->index->losses;
    for (uint64_t off = WEFT_XRAY_HEADER_BYTES; off < file->n_bytes;) {
        let_go(hop, off);
        uint64_t n_left = file->n_bytes - off;
        if (!is_buffer(file, off)) {
            uint64_t found = find_buffer(file, off);
            weft_xray_tally_add(&losses->bad_bytes, found - off, off);
            off = found;
        } else if (n_left < WEFT_XRAY_METADATA_BYTES) {
            weft_xray_tally_add(&losses->missing_bytes, n_left, off);
            break;
        } else {
            WEFT_TRY(hop_extents(hop, off, &off, err));
        }
    }
    return WEFT_OK;
}

static bool are_twins(const struct weft_mapped *file, const struct weft_xray_piece *a,
                      const struct weft_xray_piece *b)
{
    return a->n_bytes == b->n_bytes &&
           memcmp(file->bytes + a->at_off, file->bytes + b->at_off, a->n_bytes) == 0;
}

/* Marks every piece that repeats an earlier one of the same thread and first time stamp. */
static void mark_duplicates(const struct weft_mapped *file, struct weft_xray_index *index)
{
    struct weft_xray_piece *pieces = index->pieces.items;
    for (size_t k = 1; k < index->pieces.n; k++) {
        for (size_t back = 1; back <= k && back <= MOST_TWINS; back++) {
            const struct weft_xray_piece *earlier = &pieces[k - back];
            if (earlier->thread != pieces[k].thread || earlier->first_tsc != pieces[k].first_tsc)
                break;
            if (!earlier->is_duplicate && are_twins(file, earlier, &pieces[k])) {
                pieces[k].is_duplicate = true;
                index->n_duplicates++;
                break;
            }
        }
    }
}

/* What the wall-time markers contain: the clock at zero, and the frequency if the header does
 * not. */
static void read_clock(const struct hopper *hop, struct weft_xray_index *index)
{
    if (!hop->wall.is_set)
        return;
    uint64_t d_tsc = hop->wall.last.tsc - hop->wall.first.tsc;
    uint64_t d_us = hop->wall.last.us - hop->wall.first.us;
    if (hop->wall.last.us > hop->wall.first.us && d_us >= 1000 && d_tsc < UINT64_MAX / 1000000)
        index->measured_hz = d_tsc * 1000000 / d_us;
    if (hop->wall.first.tsc == index->zero_tsc) {
        index->has_monotonic = true;
        index->monotonic_ns = hop->wall.first.us * 1000;
    }
}

enum weft_code weft_xray_index_fdr(const struct weft_mapped *file,
                                   const struct weft_xray_header *header,
                                   struct weft_xray_index *index, struct weft_err *err)
{
    struct hopper hop = { .file = file, .header = header, .index = index };
    hop.thread_of = weft_map_new();
    if (!hop.thread_of)
        return weft_no_memory(err, "a set of threads");
    enum weft_code code = header->version == 1 ? hop_fixed(&hop, err) : hop_all_extents(&hop, err);
    weft_map_free(hop.thread_of);
    WEFT_THEN(code, weft_xray_index_sort(index, err));
    if (code != WEFT_OK)
        return code;
    mark_duplicates(file, index);
    read_clock(&hop, index);
    return WEFT_OK;
}
