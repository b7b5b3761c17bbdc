/* SPDX-License-Identifier: MIT
 *
 * The table of known events. Names changed over the years: LTTng 2.0 to 2.13, and the kernel's own
 * tracepoints, which perf and ftrace record.
 */
#include "kernel/known.h"

#include <string.h>

static const struct kernel_row rows[] = {
    { "sched_switch",
      KERNEL_MEANS_SWITCH,
      0,
      "",
      { "prev_tid|prev_pid", "next_tid|next_pid", "prev_state", "prev_comm", "next_comm" },
      NULL,
      2 },
    { "sched_waking", KERNEL_MEANS_WAKING, 0, "", { "tid|pid", "target_cpu", "comm" }, NULL, 1 },
    { "sched_wakeup", KERNEL_MEANS_WOKEN, 0, "", { "tid|pid", "target_cpu", "comm" }, NULL, 1 },
    { "sched_wakeup_new", KERNEL_MEANS_WOKEN, 1, "", { "tid|pid", "target_cpu", "comm" }, NULL, 1 },
    { "sched_process_fork",
      KERNEL_MEANS_FORK,
      0,
      "",
      { "child_tid|child_pid", "child_pid", "child_comm", "parent_tid|parent_pid" },
      NULL,
      1 },
    { "sched_process_exit", KERNEL_MEANS_EXIT, 0, "", { "tid|pid" }, NULL, 0 },
    { "lttng_statedump_process_state",
      KERNEL_MEANS_PROCESS,
      0,
      "",
      { "tid", "pid", "name" },
      NULL,
      1 },
    { "sched_stat_runtime", KERNEL_MEANS_RAN, 0, "", { "tid|pid", "runtime" }, NULL, 2 },
    { "irq_handler_entry", KERNEL_MEANS_IRQ_ENTER, 0, "irq", { "irq", "name" }, NULL, 1 },
    { "irq_handler_exit", KERNEL_MEANS_IRQ_EXIT, 0, "irq", { "irq" }, NULL, 1 },
    { "softirq_entry|irq_softirq_entry", KERNEL_MEANS_IRQ_ENTER, 0, "softirq", { "vec" }, NULL, 1 },
    { "softirq_exit|irq_softirq_exit", KERNEL_MEANS_IRQ_EXIT, 0, "softirq", { "vec" }, NULL, 1 },
    { "hrtimer_expire_entry|timer_hrtimer_expire_entry",
      KERNEL_MEANS_IRQ_ENTER,
      0,
      "hrtimer",
      { "hrtimer" },
      NULL,
      1 },
    { "hrtimer_expire_exit|timer_hrtimer_expire_exit",
      KERNEL_MEANS_IRQ_EXIT,
      0,
      "hrtimer",
      { "hrtimer" },
      NULL,
      1 },
    { "timer_expire_entry", KERNEL_MEANS_IRQ_ENTER, 0, "timer", { "timer" }, NULL, 1 },
    { "timer_expire_exit", KERNEL_MEANS_IRQ_EXIT, 0, "timer", { "timer" }, NULL, 1 },
    { "block_rq_issue",
      KERNEL_MEANS_IO_BEGIN,
      0,
      "",
      { "dev", "sector", "bytes", "nr_sector", "rwbs" },
      NULL,
      1 },
    { "block_rq_complete",
      KERNEL_MEANS_IO_END,
      0,
      "",
      { "dev", "sector", "bytes", "nr_sector", "rwbs" },
      NULL,
      1 },
    { "inet_sock_local_out", KERNEL_MEANS_SENT, 0, "tcp", { "seq", "ack_seq", "flags" }, NULL, 1 },
    { "inet_sock_local_in",
      KERNEL_MEANS_RECEIVED,
      0,
      "tcp",
      { "seq", "ack_seq", "flags" },
      NULL,
      1 },
    { "exit_syscall", KERNEL_MEANS_SYSCALL_EXIT, 0, "", { "ret" }, NULL, 1 },
    { "sys_enter",
      KERNEL_MEANS_SYSCALL_ENTER,
      1,
      "",
      { "id", "args|#0", "#1", "#2" },
      "raw_syscalls:",
      1 },
    { "sys_exit", KERNEL_MEANS_SYSCALL_EXIT, 1, "", { "ret", "id" }, "raw_syscalls:", 1 },
};

/* System calls have an event each; the rest of the name is that of the call. */
static const struct {
    const char *prefix;
    uint8_t meaning;
} prefixes[] = {
    { "syscall_entry_", KERNEL_MEANS_SYSCALL_ENTER },
    { "syscall_exit_", KERNEL_MEANS_SYSCALL_EXIT },
    { "compat_syscall_entry_", KERNEL_MEANS_SYSCALL_ENTER },
    { "compat_syscall_exit_", KERNEL_MEANS_SYSCALL_EXIT },
    { "sys_enter_", KERNEL_MEANS_SYSCALL_ENTER },
    { "sys_exit_", KERNEL_MEANS_SYSCALL_EXIT },
    { "compat_sys_", KERNEL_MEANS_SYSCALL_ENTER },
    { "sys_", KERNEL_MEANS_SYSCALL_ENTER },
};

/* Of other meanings no field is needed. Names are only met, not delivered. */
static const struct {
    uint8_t survey, delivery;
} needs[KERNEL_MEANINGS] = {
    [KERNEL_MEANS_SWITCH] = { 0x1b, 0x07 },     [KERNEL_MEANS_WAKING] = { 0x07, 0x03 },
    [KERNEL_MEANS_WOKEN] = { 0x07, 0x03 },      [KERNEL_MEANS_FORK] = { 0x07, 0x03 },
    [KERNEL_MEANS_PROCESS] = { 0x07, 0x03 },    [KERNEL_MEANS_RAN] = { 0, 0x03 },
    [KERNEL_MEANS_IRQ_ENTER] = { 0, 0x03 },     [KERNEL_MEANS_IRQ_EXIT] = { 0, 0x03 },
    [KERNEL_MEANS_SYSCALL_ENTER] = { 0, 0x0f }, [KERNEL_MEANS_SYSCALL_EXIT] = { 0, 0x03 },
    [KERNEL_MEANS_IO_BEGIN] = { 0, 0x1f },      [KERNEL_MEANS_IO_END] = { 0, 0x1f },
    [KERNEL_MEANS_SENT] = { 0, 0x07 },          [KERNEL_MEANS_RECEIVED] = { 0, 0x07 },
};

unsigned kernel_fields_needed(uint8_t meaning, bool is_survey)
{
    if (meaning >= KERNEL_MEANINGS)
        return (1u << KERNEL_FIELDS) - 1;
    return is_survey ? needs[meaning].survey : needs[meaning].delivery;
}

static bool begins_with(struct weft_str text, const char *front, size_t n_front)
{
    return text.n_bytes > n_front && memcmp(text.bytes, front, n_front) == 0;
}

/* Does `text` begin with one of "a|b", and continue? */
static bool begins_with_any(struct weft_str text, const char *fronts)
{
    while (*fronts) {
        const size_t n_front = strcspn(fronts, "|");
        if (begins_with(text, fronts, n_front))
            return true;
        fronts += n_front;
        fronts += *fronts == '|';
    }
    return false;
}

static bool ends_with(struct weft_str text, const char *end)
{
    const size_t n_end = strlen(end);
    return text.n_bytes > n_end && memcmp(text.bytes + text.n_bytes - n_end, end, n_end) == 0;
}

static uint32_t find_name(const struct kernel_class *class, struct weft_str name)
{
    for (uint32_t k = 0; k < class->n_fields; k++)
        if (weft_str_equal(class->fields[k].name, name))
            return k;
    return KERNEL_NO_FIELD;
}

/* The first of the names in "a|b" that is a field; KERNEL_NO_FIELD: none. O(names x fields). */
static uint32_t field_find(const struct kernel_class *class, const char *names)
{
    while (names && *names) {
        const size_t n_name = strcspn(names, "|");
        const uint32_t found = find_name(class, (struct weft_str){ names, n_name });
        if (found != KERNEL_NO_FIELD)
            return found;
        names += n_name;
        names += *names == '|';
    }
    return KERNEL_NO_FIELD;
}

static bool is_number(const struct kernel_class *class, uint32_t field)
{
    return field != KERNEL_NO_FIELD && class->fields[field].kind == KERNEL_FIELD_NUMBER;
}

static struct weft_str without_provider(struct weft_str name)
{
    const char *colon = name.n_bytes ? memchr(name.bytes, ':', name.n_bytes) : NULL;
    if (!colon)
        return name;
    const size_t n_front = (size_t)(colon + 1 - name.bytes);
    return (struct weft_str){ colon + 1, name.n_bytes - n_front };
}

static void known_init(const struct kernel_class *class, struct kernel_known *known)
{
    *known = (struct kernel_known){ .event_name = without_provider(class->name) };
    for (size_t k = 0; k < KERNEL_FIELDS; k++)
        known->fields[k] = KERNEL_NO_FIELD;
}

/* An event whose fields are not what they should be is but a point. */
static bool fields_set(const struct kernel_class *class, const struct kernel_row *row,
                       struct kernel_known *known)
{
    for (size_t k = 0; k < KERNEL_FIELDS; k++) {
        known->fields[k] = field_find(class, row->fields[k]);
        if (known->fields[k] != KERNEL_NO_FIELD &&
            (class->fields[known->fields[k]].kind == KERNEL_FIELD_OTHER ||
             (class->fields[known->fields[k]].kind == KERNEL_FIELD_ARRAY &&
              row->meaning != KERNEL_MEANS_SYSCALL_ENTER)))
            known->fields[k] = KERNEL_NO_FIELD;
    }
    for (size_t k = 0; k < row->n_needed; k++)
        if (!is_number(class, known->fields[k]))
            return false;
    return true;
}

bool kernel_known_by_row(const struct kernel_class *class, const struct kernel_row *table,
                         size_t n_rows, struct kernel_known *known)
{
    known_init(class, known);
    for (size_t k = 0; k < n_rows; k++) {
        const struct kernel_row *row = &table[k];
        if (!weft_str_is_one_of(known->event_name, row->names) ||
            !(row->providers ? begins_with_any(class->name, row->providers) : class->is_kernel) ||
            !fields_set(class, row, known))
            continue;
        known->meaning = row->meaning;
        known->subtype = row->subtype;
        known->name = weft_str_of(row->name);
        return true;
    }
    known_init(class, known);
    return false;
}

/* Fields of a call's begin: its first number, its second, its first text (a file's name), and its
 * third number. */
static void enter_fields(const struct kernel_class *class, struct kernel_known *known)
{
    for (uint32_t k = 0; k < class->n_fields; k++) {
        const struct kernel_field *field = &class->fields[k];
        const bool is_text = field->kind == KERNEL_FIELD_TEXT;
        const size_t place = is_text                               ? 2
                             : known->fields[0] == KERNEL_NO_FIELD ? 0
                             : known->fields[1] == KERNEL_NO_FIELD ? 1
                                                                   : 3;
        if ((is_text || field->kind == KERNEL_FIELD_NUMBER) &&
            known->fields[place] == KERNEL_NO_FIELD &&
            !begins_with_any(field->name, "perf_|common_") &&
            !weft_str_is_one_of(field->name, "__syscall_nr|nr"))
            known->fields[place] = k;
    }
}

static void known_by_prefix(const struct kernel_class *class, struct kernel_known *known)
{
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++) {
        const size_t n_front = strlen(prefixes[k].prefix);
        if (!begins_with(known->event_name, prefixes[k].prefix, n_front))
            continue;
        known->meaning = prefixes[k].meaning;
        known->name = (struct weft_str){ known->event_name.bytes + n_front,
                                         known->event_name.n_bytes - n_front };
        break;
    }
    if (known->meaning == KERNEL_MEANS_SYSCALL_ENTER)
        enter_fields(class, known);
    if (known->meaning != KERNEL_MEANS_SYSCALL_EXIT)
        return;
    const uint32_t ret = field_find(class, "ret");
    known->fields[0] = is_number(class, ret) ? ret : KERNEL_NO_FIELD;
}

/* Interrupts of CPUs: local timer, reschedule and so on, by the name of their vector. */
static void known_by_vector(const struct kernel_class *class, struct kernel_known *known)
{
    static const char front[] = "x86_irq_vectors_";
    const size_t n_front = sizeof front - 1;
    struct weft_str name = known->event_name;
    if (begins_with(name, front, n_front))
        name = (struct weft_str){ name.bytes + n_front, name.n_bytes - n_front };
    else if (!begins_with_any(class->name, "irq_vectors:"))
        return;
    const bool is_enter = ends_with(name, "_entry");
    if (!is_enter && !ends_with(name, "_exit"))
        return;
    const uint32_t vector = field_find(class, "vector");
    known->meaning = is_enter ? KERNEL_MEANS_IRQ_ENTER : KERNEL_MEANS_IRQ_EXIT;
    known->fields[0] = is_number(class, vector) ? vector : KERNEL_NO_FIELD;
    name.n_bytes -= is_enter ? strlen("_entry") : strlen("_exit");
    known->name = name;
}

void kernel_known_make(const struct kernel_class *class, struct kernel_known *known)
{
    if (kernel_known_by_row(class, rows, sizeof rows / sizeof *rows, known) || !class->is_kernel)
        return;
    known_by_prefix(class, known);
    known_by_vector(class, known);
}
