/* SPDX-License-Identifier: MIT
 *
 * In a kernel trace, a process belongs to the program if one of its threads has calls or lock
 * events beyond futexes; if there is none, all do. Idle tasks, and tracers by their names, never
 * do. The rest is counted in `left_out`, for the sentence that says which threads an answer omits.
 */
#include "model/locks/program.h"

#include "base/map.h"

#include <stdlib.h>

/* Of a thread without a process; above all numbers of processes. */
#define NO_PROCESS (UINT64_C(1) << 47)

struct program {
    const struct weft_trace *trace;
    const struct weft_twins *twins;
    struct weft_map *processes; /* host and process */
    uint8_t *is_told;           /* by thread: it has calls, or events of locks */
    uint8_t *is_process_told;   /* by number of the process */
    uint8_t *is_process_out;    /* likewise: a thread of it is left out */
};

/* Does a thread of this name belong to a tracer? Traces contain no more than names. */
static bool is_tracer(struct weft_str name)
{
    static const char *const fronts[] = { "perf", "trace-cmd", "lttng-", "weft", "babeltrace" };
    return WEFT_STR_BEGINS(name, fronts) ||
           weft_str_ends(name, "-ust"); /* threads of LTTng in a program */
}

/* The number of a thread's process, or of the thread alone if no twin has one. WEFT_MAP_NONE
 * without memory. */
static uint32_t process_of(const struct program *program, uint32_t thread_id)
{
    uint32_t id = thread_id;
    do {
        const struct weft_thread_info *info = &weft_trace_thread(program->trace, id)->info;
        if (info->pid)
            return weft_map_add(program->processes, (uint64_t)info->host_id << 48 | info->pid,
                                NULL);
        id = program->twins->next[id];
    } while (id != thread_id);
    return weft_map_add(program->processes, NO_PROCESS | thread_id, NULL);
}

/* Kernel traces may contain threads without their processes. */
static bool is_told_process(const struct program *program, uint32_t process)
{
    return !(weft_map_key(program->processes, process) & NO_PROCESS);
}

static void find_told(struct program *program, const struct weft_locks *locks)
{
    size_t n_ops;
    const struct weft_lock_op *ops = weft_locks_ops(locks, &n_ops);
    for (size_t i = 0; i < n_ops; i++)
        if (ops[i].source != WEFT_LOCK_BY_FUTEX)
            program->is_told[ops[i].thread_id] = 1;
    for (uint32_t id = 0; id < program->twins->n_threads; id++) {
        const struct weft_model_thread *thread = weft_trace_thread(program->trace, id);
        if (thread->calls + thread->cut_calls > 0)
            program->is_told[program->twins->first[id]] = 1;
    }
}

static bool is_own(const struct program *program, uint32_t thread_id, uint32_t process, uint8_t by)
{
    const struct weft_thread_info *info = &weft_trace_thread(program->trace, thread_id)->info;
    if (by == WEFT_PROGRAM_TOLD && !program->is_process_told[process])
        return false;
    return info->tid != 0 && !is_tracer(info->name);
}

static enum weft_code find(struct program *program, uint8_t *kept, struct weft_left_out *left_out,
                           struct weft_err *err)
{
    const uint32_t n_threads = program->twins->n_threads;
    left_out->by = WEFT_PROGRAM_UNTOLD;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t id = 0; id < n_threads; id++) {
            if (program->twins->first[id] != id)
                continue;
            const uint32_t process = process_of(program, id);
            if (process == WEFT_MAP_NONE)
                return weft_no_memory(err, "processes");
            if (pass == 0 && program->is_told[id]) {
                program->is_process_told[process] = 1;
                left_out->by = WEFT_PROGRAM_TOLD;
            } else if (pass == 1 && !is_own(program, id, process, left_out->by)) {
                kept[id] = 0;
                left_out->threads++;
                left_out->processes +=
                    is_told_process(program, process) && !program->is_process_out[process];
                program->is_process_out[process] = 1;
            }
        }
    return WEFT_OK;
}

enum weft_code weft_program_find(const struct weft_trace *trace, const struct weft_locks *locks,
                                 uint8_t *is_own, struct weft_left_out *left_out,
                                 struct weft_err *err)
{
    const size_t n_threads = weft_trace_n_threads(trace);
    *left_out = (struct weft_left_out){ .by = WEFT_PROGRAM_ALL };
    if (!weft_trace_has_switches(trace))
        return WEFT_OK;
    struct program program = { .trace = trace,
                               .twins = weft_locks_twins(locks),
                               .processes = weft_map_new(),
                               .is_told = calloc(n_threads + 1, 1),
                               .is_process_told = calloc(n_threads + 1, 1),
                               .is_process_out = calloc(n_threads + 1, 1) };
    enum weft_code code =
        program.processes && program.is_told && program.is_process_told && program.is_process_out
            ? WEFT_OK
            : weft_no_memory(err, "processes");
    if (code == WEFT_OK) {
        find_told(&program, locks);
        code = find(&program, is_own, left_out, err);
    }
    weft_map_free(program.processes);
    free(program.is_told);
    free(program.is_process_told);
    free(program.is_process_out);
    return code;
}
