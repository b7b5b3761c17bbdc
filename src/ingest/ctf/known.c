/* SPDX-License-Identifier: MIT
 *
 * Matches event classes of a trace with the table of known kernel events (kernel/known.h) and with
 * that of LTTng-UST below, and remembers where the fields, the thread and the CPU are in the
 * decoder's values. Done once a class, so that an event costs array accesses only.
 */
#include "ingest/ctf/known.h"

#include <stdlib.h>
#include <string.h>

/* Events of user space are known by their provider. */
static const struct kernel_row user_rows[] = {
    { "func_entry", CTF_MEANS_CALL, 0, "", { "addr" }, "lttng_ust_cyg_profile", 1 },
    { "func_exit", CTF_MEANS_RETURN, 0, "", { "addr" }, "lttng_ust_cyg_profile", 0 },
    { "pthread_mutex_lock_req",
      CTF_MEANS_LOCK_REQUEST,
      0,
      "mutex_lock",
      { "mutex" },
      "lttng_ust_pthread:",
      1 },
    { "pthread_mutex_lock_acq",
      CTF_MEANS_LOCK_ACQUIRED,
      0,
      "mutex_lock",
      { "mutex", "status" },
      "lttng_ust_pthread:",
      1 },
    { "pthread_mutex_trylock",
      CTF_MEANS_LOCK_ACQUIRED,
      0,
      "mutex_trylock",
      { "mutex", "status" },
      "lttng_ust_pthread:",
      1 },
    { "pthread_mutex_unlock",
      CTF_MEANS_LOCK_RELEASED,
      0,
      "mutex_unlock",
      { "mutex", "status" },
      "lttng_ust_pthread:",
      1 },
    { "build_id",
      CTF_MEANS_BUILD_ID,
      0,
      "",
      { "baddr" },
      "lttng_ust_statedump:|lttng_ust_dl:|lttng_ust_lib:|ust_baddr_statedump:",
      1 },
    { "bin_info|dlopen|load",
      CTF_MEANS_MODULE,
      0,
      "",
      { "baddr", "memsz", "path", "is_pic" },
      "lttng_ust_statedump:|lttng_ust_dl:|lttng_ust_lib:|ust_baddr_statedump:",
      1 },
};

static bool is_number(const struct ctf_op *op)
{
    return op->kind == CTF_OP_BYTES || op->kind == CTF_OP_BITS || op->kind == CTF_OP_VARINT;
}

static bool is_text(const struct ctf_op *op)
{
    return op->kind == CTF_OP_STRING || op->kind == CTF_OP_TEXT;
}

static const struct ctf_op *find_any(const struct ctf_plan *plan, const char *const *names)
{
    for (; *names; names++) {
        const struct ctf_op *op = ctf_plan_find(plan, *names);
        if (op && op->slot != CTF_NO_SLOT)
            return op;
    }
    return NULL;
}

static const struct ctf_op *number_in(const struct ctf_plan *plan, const char *const *names)
{
    const struct ctf_op *op = find_any(plan, names);
    return op && is_number(op) ? op : NULL;
}

/* The fields of an event, as the table of known events wants them. */
static bool known_by_fields(const struct ctf_event_plan *event, bool is_kernel,
                            struct ctf_known *known)
{
    const struct ctf_plan *plan = &event->fields;
    struct kernel_field *fields = calloc(plan->n_ops + 1, sizeof *fields);
    const struct ctf_op **ops = calloc(plan->n_ops + 1, sizeof(*ops));
    struct kernel_class class = { .name = event->class->name,
                                  .fields = fields,
                                  .is_kernel = is_kernel };
    for (uint32_t k = 1; fields && ops && k < plan->n_ops; k = plan->ops[k].next) {
        const struct ctf_op *op = &plan->ops[k];
        fields[class.n_fields] =
            (struct kernel_field){ .name = op->name,
                                   .kind = is_number(op) ? KERNEL_FIELD_NUMBER
                                           : is_text(op) ? KERNEL_FIELD_TEXT
                                                         : KERNEL_FIELD_OTHER };
        ops[class.n_fields++] = op;
    }
    const bool is_good = fields && ops;
    if (is_good &&
        !kernel_known_by_row(&class, user_rows, sizeof user_rows / sizeof *user_rows, &known->base))
        kernel_known_make(&class, &known->base);
    for (size_t k = 0; is_good && k < KERNEL_FIELDS; k++)
        if (known->base.fields[k] != KERNEL_NO_FIELD)
            known->fields[k] = ops[known->base.fields[k]];
    if (is_good && known->base.meaning == CTF_MEANS_BUILD_ID) { /* a text, or an array of bytes */
        const struct ctf_op *op = ctf_plan_find(plan, "build_id");
        known->fields[1] = op && (is_text(op) || op->kind == CTF_OP_ARRAY) ? op : NULL;
    }
    free(fields);
    free(ops);
    return is_good;
}

bool ctf_known_make(const struct ctf_stream_plan *stream, const struct ctf_event_plan *event,
                    bool is_kernel, struct ctf_known *known)
{
    static const char *const tids[] = { "tid", "vtid", "tid", NULL };
    static const char *const pids[] = { "pid", "vpid", "pid", NULL };
    static const char *const perf_tid[] = { "perf_tid", NULL };
    static const char *const perf_pid[] = { "perf_pid", NULL };
    static const char *const comm[] = { "procname", NULL };
    static const char *const cpu_id[] = { "cpu_id", NULL };
    static const char *const perf_cpu[] = { "perf_cpu", NULL };
    *known = (struct ctf_known){ 0 };
    if (!known_by_fields(event, is_kernel, known))
        return false;
    known->tid = number_in(&stream->event_context, tids + !is_kernel);
    known->pid = number_in(&stream->event_context, pids + !is_kernel);
    if (!known->tid) {
        known->tid = number_in(&event->fields, perf_tid);
        known->pid = number_in(&event->fields, perf_pid);
    }
    known->comm = find_any(&stream->event_context, comm);
    if (known->comm && !is_text(known->comm))
        known->comm = NULL;
    known->cpu = number_in(&stream->packet_context, cpu_id);
    if (!known->cpu)
        known->cpu = number_in(&event->fields, perf_cpu);
    return true;
}

bool ctf_is_kernel(const struct ctf_trace_plan *plan)
{
    const struct weft_str domain = ctf_env_find(plan->meta, "domain");
    if (domain.n_bytes > 0)
        return weft_str_equal(domain, WEFT_STR("kernel"));
    for (size_t i = 0; i < plan->n_streams; i++)
        for (size_t j = 0; j < plan->streams[i].class->events.n; j++)
            if (weft_str_is_one_of(plan->streams[i].class->events.items[j].name,
                                   "sched_switch|sched:sched_switch"))
                return true;
    return false;
}
