/* SPDX-License-Identifier: MIT
 *
 * The table of known events. Names changed over the years: LTTng 2.0 to 2.13, and perf's
 * conversion, which has the kernel's own.
 */
#include "ingest/ctf/known.h"

#include <string.h>

struct row {
    const char *names; /* "a|b": any of them */
    uint8_t meaning, subtype;
    const char *name;
    const char *fields[CTF_KNOWN_FIELDS]; /* "a|b": the first that is there */
};

static const struct row rows[] = {
    { "sched_switch",
      CTF_MEANS_SWITCH,
      0,
      "",
      { "prev_tid|prev_pid", "next_tid|next_pid", "prev_state", "prev_comm", "next_comm" } },
    { "sched_waking", CTF_MEANS_WAKING, 0, "", { "tid|pid", "target_cpu", "comm" } },
    { "sched_wakeup", CTF_MEANS_WOKEN, 0, "", { "tid|pid", "target_cpu", "comm" } },
    { "sched_wakeup_new", CTF_MEANS_WOKEN, 1, "", { "tid|pid", "target_cpu", "comm" } },
    { "sched_process_fork",
      CTF_MEANS_FORK,
      0,
      "",
      { "child_tid|child_pid", "child_pid", "child_comm", "parent_tid|parent_pid" } },
    { "sched_process_exit", CTF_MEANS_EXIT, 0, "", { "tid|pid" } },
    { "lttng_statedump_process_state", CTF_MEANS_PROCESS, 0, "", { "tid", "pid", "name" } },
    { "irq_handler_entry", CTF_MEANS_IRQ_ENTER, 0, "irq", { "irq", "name" } },
    { "irq_handler_exit", CTF_MEANS_IRQ_EXIT, 0, "irq", { "irq" } },
    { "softirq_entry|irq_softirq_entry", CTF_MEANS_IRQ_ENTER, 0, "softirq", { "vec" } },
    { "softirq_exit|irq_softirq_exit", CTF_MEANS_IRQ_EXIT, 0, "softirq", { "vec" } },
    { "hrtimer_expire_entry|timer_hrtimer_expire_entry",
      CTF_MEANS_IRQ_ENTER,
      0,
      "hrtimer",
      { "hrtimer" } },
    { "hrtimer_expire_exit|timer_hrtimer_expire_exit",
      CTF_MEANS_IRQ_EXIT,
      0,
      "hrtimer",
      { "hrtimer" } },
    { "timer_expire_entry", CTF_MEANS_IRQ_ENTER, 0, "timer", { "timer" } },
    { "timer_expire_exit", CTF_MEANS_IRQ_EXIT, 0, "timer", { "timer" } },
    { "block_rq_issue",
      CTF_MEANS_IO_BEGIN,
      0,
      "",
      { "dev", "sector", "bytes", "nr_sector", "rwbs" } },
    { "block_rq_complete",
      CTF_MEANS_IO_END,
      0,
      "",
      { "dev", "sector", "bytes", "nr_sector", "rwbs" } },
    { "inet_sock_local_out", CTF_MEANS_SENT, 0, "tcp", { "seq", "ack_seq", "flags" } },
    { "inet_sock_local_in", CTF_MEANS_RECEIVED, 0, "tcp", { "seq", "ack_seq", "flags" } },
    { "exit_syscall", CTF_MEANS_SYSCALL_EXIT, 0, "", { "ret" } },
    { "sys_enter", CTF_MEANS_SYSCALL_ENTER, 1, "", { "id" } },
    { "sys_exit", CTF_MEANS_SYSCALL_EXIT, 1, "", { "ret", "id" } },
    { "func_entry", CTF_MEANS_CALL, 0, "", { "addr" } },
    { "func_exit", CTF_MEANS_RETURN, 0, "", { "addr" } },
    { "pthread_mutex_lock_req", CTF_MEANS_LOCK_REQUEST, 0, "mutex_lock", { "mutex" } },
    { "pthread_mutex_lock_acq", CTF_MEANS_LOCK_ACQUIRED, 0, "mutex_lock", { "mutex", "status" } },
    { "pthread_mutex_trylock", CTF_MEANS_LOCK_ACQUIRED, 0, "mutex_trylock", { "mutex", "status" } },
    { "pthread_mutex_unlock", CTF_MEANS_LOCK_RELEASED, 0, "mutex_unlock", { "mutex", "status" } },
    { "build_id", CTF_MEANS_BUILD_ID, 0, "", { "baddr", "build_id" } },
    { "bin_info|dlopen|load", CTF_MEANS_MODULE, 0, "", { "baddr", "memsz", "path", "is_pic" } },
};

/* System calls have an event each; the rest of the name is that of the call. */
static const struct {
    const char *prefix;
    uint8_t meaning;
} prefixes[] = {
    { "syscall_entry_", CTF_MEANS_SYSCALL_ENTER },
    { "syscall_exit_", CTF_MEANS_SYSCALL_EXIT },
    { "compat_syscall_entry_", CTF_MEANS_SYSCALL_ENTER },
    { "compat_syscall_exit_", CTF_MEANS_SYSCALL_EXIT },
    { "sys_enter_", CTF_MEANS_SYSCALL_ENTER },
    { "sys_exit_", CTF_MEANS_SYSCALL_EXIT },
    { "compat_sys_", CTF_MEANS_SYSCALL_ENTER },
    { "sys_", CTF_MEANS_SYSCALL_ENTER },
};

/* Is `text` one of the names in "a|b|c"? */
static bool is_one_of(struct weft_str text, const char *names)
{
    while (*names) {
        const size_t n_name = strcspn(names, "|");
        if (n_name == text.n_bytes && memcmp(names, text.bytes, n_name) == 0)
            return true;
        names += n_name;
        names += *names == '|';
    }
    return false;
}

/* The first of the names in "a|b" that is a field of the plan. */
static const struct ctf_op *find_any(const struct ctf_plan *plan, const char *names)
{
    char name[64];
    while (names && *names) {
        const size_t n_name = strcspn(names, "|");
        memcpy(name, names, n_name);
        name[n_name] = '\0';
        const struct ctf_op *op = ctf_plan_find(plan, name);
        if (op && op->slot != CTF_NO_SLOT)
            return op;
        names += n_name;
        names += *names == '|';
    }
    return NULL;
}

static bool is_number(const struct ctf_op *op)
{
    return op->kind == CTF_OP_BYTES || op->kind == CTF_OP_BITS || op->kind == CTF_OP_VARINT;
}

static const struct ctf_op *number_in(const struct ctf_plan *plan, const char *names)
{
    const struct ctf_op *op = find_any(plan, names);
    return op && is_number(op) ? op : NULL;
}

static bool is_text(const struct ctf_op *op)
{
    return op->kind == CTF_OP_STRING || op->kind == CTF_OP_TEXT;
}

/* The provider is of interest only where names are common words. */
static struct weft_str without_provider(struct weft_str name)
{
    const char *colon = name.n_bytes ? memchr(name.bytes, ':', name.n_bytes) : NULL;
    if (!colon)
        return name;
    const size_t n_front = (size_t)(colon + 1 - name.bytes);
    return (struct weft_str){ colon + 1, name.n_bytes - n_front };
}

static bool has_provider(struct weft_str name, const char *provider)
{
    const size_t n_bytes = strlen(provider);
    return name.n_bytes > n_bytes && memcmp(name.bytes, provider, n_bytes) == 0;
}

static bool ends_with(struct weft_str text, const char *end)
{
    const size_t n_end = strlen(end);
    return text.n_bytes > n_end && memcmp(text.bytes + text.n_bytes - n_end, end, n_end) == 0;
}

/* Events of user space are known by their provider, those of the kernel are not called like them.
 */
static bool is_of_row(struct weft_str full, struct weft_str name, const struct row *row,
                      bool is_kernel)
{
    if (!is_one_of(name, row->names))
        return false;
    switch ((enum ctf_meaning)row->meaning) {
    case CTF_MEANS_SYSCALL_ENTER:
    case CTF_MEANS_SYSCALL_EXIT: /* LTTng once had an event sys_exit of the call exit */
        return row->subtype ? has_provider(full, "raw_syscalls:") : is_kernel;
    case CTF_MEANS_CALL:
    case CTF_MEANS_RETURN:
        return has_provider(full, "lttng_ust_cyg_profile");
    case CTF_MEANS_LOCK_REQUEST:
    case CTF_MEANS_LOCK_ACQUIRED:
    case CTF_MEANS_LOCK_RELEASED:
        return has_provider(full, "lttng_ust_pthread:");
    case CTF_MEANS_MODULE:
    case CTF_MEANS_BUILD_ID:
        return has_provider(full, "lttng_ust_statedump:") || has_provider(full, "lttng_ust_dl:") ||
               has_provider(full, "lttng_ust_lib:") || has_provider(full, "ust_baddr_statedump:");
    default:
        return is_kernel;
    }
}

/* An event whose fields are not what they should be is but a point. */
static bool fields_set(const struct ctf_plan *plan, const struct row *row, struct ctf_known *known)
{
    for (size_t k = 0; k < CTF_KNOWN_FIELDS; k++) {
        known->fields[k] = find_any(plan, row->fields[k]);
        const bool is_array = known->fields[k] && known->fields[k]->kind == CTF_OP_ARRAY;
        if (known->fields[k] && !is_number(known->fields[k]) && !is_text(known->fields[k]) &&
            !(is_array && row->meaning == CTF_MEANS_BUILD_ID))
            known->fields[k] = NULL;
    }
    const bool needs_none = row->meaning == CTF_MEANS_RETURN || row->meaning == CTF_MEANS_EXIT;
    const bool needs_two = row->meaning == CTF_MEANS_SWITCH;
    return needs_none || (known->fields[0] && is_number(known->fields[0]) &&
                          (!needs_two || (known->fields[1] && is_number(known->fields[1]))));
}

static bool known_by_row(const struct ctf_event_plan *event, bool is_kernel,
                         struct ctf_known *known)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (!is_of_row(event->class->name, known->event_name, &rows[k], is_kernel) ||
            !fields_set(&event->fields, &rows[k], known))
            continue;
        known->meaning = rows[k].meaning;
        known->subtype = rows[k].subtype;
        known->name = weft_str_of(rows[k].name);
        return true;
    }
    memset(known->fields, 0, sizeof known->fields);
    return false;
}

/* Fields of a call's begin: its first number, its second, and its first text (a file's name). */
static void known_by_prefix(const struct ctf_event_plan *event, struct ctf_known *known)
{
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++) {
        if (!has_provider(known->event_name, prefixes[k].prefix))
            continue;
        const size_t n_front = strlen(prefixes[k].prefix);
        known->meaning = prefixes[k].meaning;
        known->name = (struct weft_str){ known->event_name.bytes + n_front,
                                         known->event_name.n_bytes - n_front };
        break;
    }
    if (known->meaning == CTF_MEANS_SYSCALL_EXIT)
        known->fields[0] = number_in(&event->fields, "ret");
    const struct ctf_plan *plan = &event->fields;
    for (uint32_t k = 1; known->meaning == CTF_MEANS_SYSCALL_ENTER && k < plan->n_ops;
         k = plan->ops[k].next) {
        const struct ctf_op *op = &plan->ops[k];
        const bool is_of_perf = has_provider(op->name, "perf_") ||
                                has_provider(op->name, "common_") ||
                                weft_str_equal(op->name, WEFT_STR("__syscall_nr"));
        const size_t place = is_text(op) ? 2 : known->fields[0] ? 1 : 0;
        if (!is_of_perf && (is_text(op) || is_number(op)) && !known->fields[place])
            known->fields[place] = op;
    }
}

/* Interrupts of processors: local timer, reschedule and so on, by the name of their vector. */
static void known_by_vector(const struct ctf_event_plan *event, struct ctf_known *known)
{
    static const char front[] = "x86_irq_vectors_";
    struct weft_str name = known->event_name;
    if (has_provider(name, front)) {
        name.bytes += sizeof front - 1;
        name.n_bytes -= sizeof front - 1;
    } else if (!has_provider(event->class->name, "irq_vectors:")) {
        return;
    }
    const bool is_enter = ends_with(name, "_entry");
    if (!is_enter && !ends_with(name, "_exit"))
        return;
    known->meaning = is_enter ? CTF_MEANS_IRQ_ENTER : CTF_MEANS_IRQ_EXIT;
    known->fields[0] = number_in(&event->fields, "vector");
    name.n_bytes -= is_enter ? strlen("_entry") : strlen("_exit");
    known->name = name;
}

void ctf_known_make(const struct ctf_stream_plan *stream, const struct ctf_event_plan *event,
                    bool is_kernel, struct ctf_known *known)
{
    const char *tids = is_kernel ? "tid|vtid" : "vtid|tid";
    const char *pids = is_kernel ? "pid|vpid" : "vpid|pid";
    *known = (struct ctf_known){ .event_name = without_provider(event->class->name) };
    if (!known_by_row(event, is_kernel, known) && is_kernel) {
        known_by_prefix(event, known);
        known_by_vector(event, known);
    }
    known->tid = number_in(&stream->event_context, tids);
    known->pid = number_in(&stream->event_context, pids);
    if (!known->tid) {
        known->tid = number_in(&event->fields, "perf_tid");
        known->pid = number_in(&event->fields, "perf_pid");
    }
    known->comm = find_any(&stream->event_context, "procname");
    if (known->comm && !is_text(known->comm))
        known->comm = NULL;
    known->cpu = number_in(&stream->packet_context, "cpu_id");
    if (!known->cpu)
        known->cpu = number_in(&event->fields, "perf_cpu");
}

bool ctf_is_kernel(const struct ctf_trace_plan *plan)
{
    const struct weft_str domain = ctf_env_find(plan->meta, "domain");
    if (domain.n_bytes > 0)
        return weft_str_equal(domain, WEFT_STR("kernel"));
    for (size_t i = 0; i < plan->n_streams; i++)
        for (size_t j = 0; j < plan->streams[i].class->events.n; j++)
            if (is_one_of(plan->streams[i].class->events.items[j].name,
                          "sched_switch|sched:sched_switch"))
                return true;
    return false;
}
