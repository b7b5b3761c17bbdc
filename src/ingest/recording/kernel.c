/* SPDX-License-Identifier: MIT
 *
 * The records of each CPU are in order of time: the earliest of all CPUs comes next. A stream of a
 * ring belongs to the thread that had its tid when it began, so streams begin among the records.
 */
#include "ingest/recording/kernel.h"

#include "base/vec.h"
#include "kernel/bytes.h"

#include <stdlib.h>

enum { STEP_RECORDS = 1 << 16, RECORD_BYTES = sizeof(struct weft_kernel_record) };

/* ---- streams -----------------------------------------------------------------------------------
 */

static struct rec_thread *with_streams(const struct rec_convert *convert, uint32_t thread)
{
    const uint32_t place =
        thread < convert->place_of.n ? convert->place_of.items[thread] : REC_NONE;
    return place == REC_NONE ? NULL : &convert->threads.items[place];
}

/* Without kernel events, a tid has a new thread when it is of another process, or takes a slot
 * after it gave one back; a program's first thread continues as that of the next program. */
static bool is_new_thread(const struct rec_convert *convert, const struct rec_stream *stream,
                          uint32_t thread)
{
    const struct rec_thread *known = with_streams(convert, thread);
    if (!known || convert->has_forks)
        return false;
    return known->pid != stream->pid ||
           (stream->tid != stream->pid && known->ended_libraries >> (stream->library & 31) & 1);
}

/* The stream is one more of its thread. */
static bool join(struct rec_convert *convert, uint32_t stream_id, uint32_t thread)
{
    struct rec_stream *stream = &convert->rings.items[stream_id];
    struct rec_thread *of = with_streams(convert, thread);
    stream->thread = thread;
    while (convert->place_of.n <= thread) {
        uint32_t *place = WEFT_VEC_PUSH(&convert->place_of);
        if (!place)
            return false;
        *place = REC_NONE;
    }
    if (!of) {
        of = WEFT_VEC_PUSH(&convert->threads);
        if (!of)
            return false;
        *of = (struct rec_thread){ .thread = thread, .first = stream_id, .last = stream_id };
        convert->place_of.items[thread] = (uint32_t)convert->threads.n - 1;
    } else {
        convert->rings.items[of->last].next = stream_id;
        of->last = stream_id;
    }
    of->pid = stream->pid;
    if (stream->has_ended)
        of->ended_libraries |= 1u << (stream->library & 31);
    return true;
}

/* A thread that ended before the recorder could ask may be named by kernel events. */
static void find_true_number(const struct rec_kernel *of, struct rec_stream *stream)
{
    const struct rec_process *process = rec_process_of(&of->convert->spaces, stream->pid);
    const uint64_t inode = process ? process->pid_namespace : 0;
    const uint32_t own = stream->tid & ~(uint32_t)WEFT_NUMBER_UNKNOWN;
    stream->true_pid = stream->pid;
    stream->true_tid = stream->tid;
    if (stream->tid < WEFT_NUMBER_UNKNOWN || !inode)
        return;
    const uint32_t place = weft_map_find(of->inner_of, own | inode << 32);
    if (place == WEFT_MAP_NONE ||
        (stream->pid < WEFT_NUMBER_UNKNOWN && of->inners.items[place].pid != stream->pid))
        return;
    stream->true_tid = of->inners.items[place].tid;
    stream->true_pid = of->inners.items[place].pid;
}

static bool stream_begins(struct rec_kernel *of, uint32_t stream_id)
{
    struct rec_convert *convert = of->convert;
    struct kernel_convert *kernel = &convert->kernel;
    struct rec_stream *stream = &convert->rings.items[stream_id];
    const struct weft_str name = kernel_text_in((const uint8_t *)stream->name, sizeof stream->name);
    if (kernel->is_survey)
        find_true_number(of, stream);
    uint32_t thread = kernel_thread_of(&kernel->threads, 0, stream->true_tid, -1, false);
    if (thread == WEFT_ID_NONE)
        return false;
    if (kernel->is_survey)
        stream->is_renewed = is_new_thread(convert, stream, thread);
    if (stream->is_renewed)
        thread = kernel_thread_fork(&kernel->threads, 0, stream->true_tid);
    if (thread == WEFT_ID_NONE || !kernel->is_survey)
        return thread != WEFT_ID_NONE;
    kernel->threads.items[thread].is_known = kernel->threads.items[thread].is_own = true;
    kernel->threads.items[thread].pid = stream->true_pid;
    return kernel_thread_name(&kernel->threads, thread, name) && join(convert, stream_id, thread);
}

/* Those that began until `ns` of CLOCK_MONOTONIC. */
static bool streams_until(struct rec_kernel *kernel, uint64_t ns)
{
    struct rec_convert *convert = kernel->convert;
    size_t at = 0;
    while (kernel->next_stream < convert->rings.n) {
        const uint32_t stream = kernel->streams[kernel->next_stream];
        if (rec_clock_ns(&convert->clocks, &at, convert->rings.items[stream].start_ticks) > ns)
            return true;
        kernel->next_stream++;
        if (!stream_begins(kernel, stream))
            return false;
    }
    return true;
}

static int by_start(const void *a_void, const void *b_void, void *rings)
{
    const uint32_t a = *(const uint32_t *)a_void;
    const uint32_t b = *(const uint32_t *)b_void;
    const struct rec_stream *items = ((const struct rec_rings *)rings)->items;
    if (items[a].start_ticks != items[b].start_ticks)
        return items[a].start_ticks < items[b].start_ticks ? -1 : 1;
    return (a > b) - (a < b);
}

static bool sort_streams(struct rec_kernel *kernel)
{
    struct rec_rings *rings = &kernel->convert->rings;
    kernel->streams = calloc(rings->n + 1, sizeof *kernel->streams);
    for (uint32_t k = 0; kernel->streams && k < rings->n; k++)
        kernel->streams[k] = k;
    if (kernel->streams && rings->n)
        qsort_r(kernel->streams, rings->n, sizeof *kernel->streams, by_start, rings);
    return kernel->streams != NULL;
}

/* ---- records of a CPU -------------------------------------------------------------------------
 */

static bool open_piece(struct rec_kernel *kernel, struct rec_cpu *cpu)
{
    const struct rec_pieces *pieces = &kernel->convert->pieces;
    const struct rec_piece *piece = &pieces->items[kernel->order[cpu->first++]];
    struct weft_str payload;
    if (!rec_piece_read(pieces, piece, &cpu->room, &payload))
        return false;
    cpu->cur = weft_cur_init(payload.bytes, payload.n_bytes, piece->payload_off);
    return true;
}

static void read_record(struct rec_cpu *cpu)
{
    struct weft_cursor *cur = &cpu->cur;
    cpu->record.time_ns = weft_cur_u64(cur);
    cpu->record.tid = weft_cur_u32(cur);
    cpu->record.type = weft_cur_u16(cur);
    cpu->record.payload_bytes = weft_cur_u16(cur);
    cpu->record.a = weft_cur_u64(cur);
    cpu->record.b = weft_cur_u64(cur);
    cpu->payload = weft_cur_take(cur, cpu->record.payload_bytes);
    cpu->has_record = !cur->fault;
}

/* The next record of the CPU; what is cut at the end of a piece is counted. False without
 * memory. */
static bool next_of_cpu(struct rec_kernel *kernel, struct rec_cpu *cpu)
{
    cpu->has_record = false;
    while (!cpu->has_record) {
        if (weft_cur_left(&cpu->cur) == 0 || cpu->cur.fault) {
            if (cpu->first == cpu->end)
                return true;
            if (!open_piece(kernel, cpu))
                return false;
            continue;
        }
        const uint64_t off = weft_cur_offset(&cpu->cur);
        const size_t n_left = weft_cur_left(&cpu->cur);
        read_record(cpu);
        if (!cpu->has_record) {
            if (kernel->n_bad == 0)
                kernel->bad_off = off;
            kernel->n_bad += n_left;
        }
    }
    return true;
}

/* ---- the earliest one -------------------------------------------------------------------------
 */

static bool is_earlier(const struct rec_kernel *kernel, uint32_t a, uint32_t b)
{
    const uint64_t a_ns = kernel->cpus.items[a].record.time_ns;
    const uint64_t b_ns = kernel->cpus.items[b].record.time_ns;
    return a_ns != b_ns ? a_ns < b_ns : a < b;
}

static void sift_down(struct rec_kernel *kernel, size_t at)
{
    uint32_t *heap = kernel->heap;
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < kernel->n_heap; child++)
            if (is_earlier(kernel, heap[child], heap[least]))
                least = child;
        if (least == at)
            return;
        const uint32_t moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

static int by_cpu(const void *a_void, const void *b_void, void *items_void)
{
    const uint32_t a = *(const uint32_t *)a_void;
    const uint32_t b = *(const uint32_t *)b_void;
    const struct rec_piece *items = items_void;
    if (items[a].stream != items[b].stream)
        return items[a].stream < items[b].stream ? -1 : 1;
    return (a > b) - (a < b);
}

/* Goes back to the first record of each CPU. */
static bool rewind_cpus(struct rec_kernel *kernel)
{
    uint32_t begin = 0;
    kernel->n_heap = 0;
    kernel->next_stream = 0;
    kernel->n_bad = kernel->n_unknown = 0;
    rec_stacks_rewind(&kernel->stacks);
    for (uint32_t k = 0; k < kernel->cpus.n; k++) {
        struct rec_cpu *cpu = &kernel->cpus.items[k];
        cpu->first = begin;
        begin = cpu->end;
        cpu->cur = weft_cur_init(NULL, 0, 0);
        if (!next_of_cpu(kernel, cpu))
            return false;
        if (cpu->has_record)
            kernel->heap[kernel->n_heap++] = k;
    }
    for (size_t k = kernel->n_heap / 2; k-- > 0;)
        sift_down(kernel, k);
    return true;
}

static bool find_cpus(struct rec_kernel *kernel)
{
    const struct rec_pieces *pieces = &kernel->convert->pieces;
    uint32_t n_order = 0;
    kernel->order = calloc(pieces->n + 1, sizeof *kernel->order);
    for (uint32_t k = 0; kernel->order && k < pieces->n; k++)
        if (pieces->items[k].kind == WEFT_PIECE_KERNEL)
            kernel->order[n_order++] = k;
    if (kernel->order && n_order)
        qsort_r(kernel->order, n_order, sizeof *kernel->order, by_cpu, pieces->items);
    for (uint32_t k = 0; kernel->order && k < n_order; k++) {
        const uint32_t number = pieces->items[kernel->order[k]].stream;
        struct rec_cpu *cpu = kernel->cpus.n ? &kernel->cpus.items[kernel->cpus.n - 1] : NULL;
        if (!cpu || cpu->cpu != number) {
            cpu = WEFT_VEC_PUSH(&kernel->cpus);
            if (!cpu)
                return false;
            cpu->cpu = number;
        }
        cpu->end = k + 1;
    }
    kernel->heap = calloc(kernel->cpus.n + 1, sizeof *kernel->heap);
    return kernel->order && kernel->heap;
}

/* ---- readings ---------------------------------------------------------------------------------
 */

static enum weft_code step(struct rec_kernel *kernel, uint64_t n_records)
{
    struct rec_convert *convert = kernel->convert;
    if (n_records % STEP_RECORDS == 0 && weft_progress_is_cancelled(rec_progress_of(convert)))
        return weft_fail(convert->kernel.err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    return WEFT_OK;
}

static enum weft_code read_all(struct rec_kernel *kernel)
{
    struct rec_convert *convert = kernel->convert;
    enum weft_code code = rewind_cpus(kernel) ? WEFT_OK : kernel_no_memory(&convert->kernel);
    for (uint64_t n = 1; code == WEFT_OK && kernel->n_heap; n++) {
        struct rec_cpu *cpu = &kernel->cpus.items[kernel->heap[0]];
        if (!streams_until(kernel, cpu->record.time_ns))
            return kernel_no_memory(&convert->kernel);
        code = rec_convert_record(kernel, cpu);
        if (code == WEFT_OK && !next_of_cpu(kernel, cpu))
            code = kernel_no_memory(&convert->kernel);
        if (!cpu->has_record)
            kernel->heap[0] = kernel->heap[--kernel->n_heap];
        sift_down(kernel, 0);
        WEFT_THEN(code, step(kernel, n));
    }
    if (code == WEFT_OK && !streams_until(kernel, UINT64_MAX))
        code = kernel_no_memory(&convert->kernel);
    return code;
}

static enum weft_code note_losses(struct rec_kernel *kernel)
{
    struct kernel_convert *convert = &kernel->convert->kernel;
    enum weft_code code = kernel_note(convert, WEFT_NOTE_BAD_RECORD, kernel->n_bad, kernel->bad_off,
                                      "records of the kernel");
    WEFT_THEN(code, kernel_note(convert, WEFT_NOTE_UNKNOWN_RECORD, kernel->n_unknown,
                                WEFT_NO_OFFSET, "records of the kernel"));
    WEFT_THEN(code, kernel_note(convert, WEFT_NOTE_LOST_SWITCHES, convert->threads.n_inferred,
                                WEFT_NO_OFFSET, ""));
    WEFT_THEN(code, kernel_note(convert, WEFT_NOTE_NOT_KEPT, kernel->stacks.n_run_out,
                                WEFT_NO_OFFSET, "stacks truncated: longer than their copies"));
    return code;
}

enum weft_code rec_kernel_open(struct rec_convert *convert, struct rec_kernel **kernel)
{
    struct rec_kernel *made = calloc(1, sizeof *made);
    *kernel = made;
    if (!made)
        return kernel_no_memory(&convert->kernel);
    made->convert = convert;
    made->inner_of = weft_map_new();
    rec_known_init(made);
    convert->kernel.is_survey = true;
    const bool has_stacks = rec_stacks_init(&made->stacks, &convert->spaces,
                                            convert->run ? convert->run->memory_bytes : 0);
    if (!made->inner_of || !rec_futexes_init(&made->futexes) || !rec_packets_init(&made->packets) ||
        !has_stacks || !sort_streams(made) || !find_cpus(made))
        return kernel_no_memory(&convert->kernel);
    convert->has_kernel = made->cpus.n > 0;
    return WEFT_OK;
}

enum weft_code rec_kernel_survey(struct rec_kernel *kernel)
{
    kernel->convert->kernel.is_survey = kernel->stacks.wants_starts = true;
    return read_all(kernel);
}

enum weft_code rec_kernel_end_survey(struct rec_kernel *kernel)
{
    struct rec_convert *convert = kernel->convert;
    if (!rec_futexes_end_survey(&kernel->futexes, &convert->rings, &convert->names) ||
        !rec_stacks_end_survey(&kernel->stacks))
        return kernel_no_memory(&convert->kernel);
    convert->stacks = &kernel->stacks;
    convert->has_futexes = kernel->futexes.n_delivered > 0;
    return WEFT_OK;
}

enum weft_code rec_kernel_deliver(struct rec_kernel *kernel)
{
    struct rec_convert *convert = kernel->convert;
    kernel_threads_seal(&convert->kernel.threads);
    convert->kernel.is_survey = kernel->stacks.wants_starts = false;
    enum weft_code code = read_all(kernel);
    WEFT_THEN(code, kernel_libraries(&convert->kernel, &kernel->stacks.folded));
    return code == WEFT_OK ? note_losses(kernel) : code;
}

void rec_kernel_close(struct rec_kernel *kernel)
{
    if (!kernel)
        return;
    for (size_t k = 0; k < kernel->cpus.n; k++)
        rec_room_fini(&kernel->cpus.items[k].room);
    WEFT_VEC_FINI(&kernel->cpus);
    WEFT_VEC_FINI(&kernel->inners);
    weft_map_free(kernel->inner_of);
    rec_packets_fini(&kernel->packets);
    rec_stacks_fini(&kernel->stacks);
    rec_futexes_fini(&kernel->futexes);
    free(kernel->order);
    free(kernel->heap);
    free(kernel->streams);
    free(kernel);
}
