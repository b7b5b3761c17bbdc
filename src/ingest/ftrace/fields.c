/* SPDX-License-Identifier: MIT
 *
 * Fields of events as they are printed: "key=value key=value" mostly; some events have a form of
 * their own, and trace-cmd has its own for scheduling.
 */
#include "ingest/ftrace/line.h"
#include "kernel/words.h"

static size_t word_end(struct weft_str text, size_t from)
{
    while (from < text.n_bytes && !kernel_is_blank(text.bytes[from]))
        from++;
    return from;
}

static void add(struct ftrace_fields *fields, struct weft_str name, struct weft_str value)
{
    if (fields->n < FTRACE_MOST_FIELDS && name.n_bytes)
        fields->items[fields->n++] = (struct ftrace_field){ name, kernel_trim(value) };
}

/* ---- key=value ------------------------------------------------------------------------------- */

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

/* The next "name=" from `from`: where its name begins, and where its value; false: none. */
static bool find_key(struct weft_str text, size_t from, size_t *name, size_t *value)
{
    for (size_t k = from; k < text.n_bytes; k++) {
        if (text.bytes[k] != '=' || k == 0 || (k + 1 < text.n_bytes && text.bytes[k + 1] == '='))
            continue;
        size_t at = k;
        while (at > from && is_name_byte(text.bytes[at - 1]))
            at--;
        if (at < k &&
            (at == 0 || kernel_is_blank(text.bytes[at - 1]) || text.bytes[at - 1] == ',')) {
            *name = at;
            *value = k + 1;
            return true;
        }
    }
    return false;
}

static void read_keys(struct weft_str text, struct ftrace_fields *fields)
{
    size_t name, value, next_name, next_value;
    if (!find_key(text, 0, &name, &value))
        return;
    for (bool has_next = true; has_next; name = next_name, value = next_value) {
        has_next = find_key(text, value, &next_name, &next_value);
        const size_t end = has_next ? next_name : text.n_bytes;
        struct weft_str own = kernel_trim(kernel_slice(text, value, end));
        while (own.n_bytes && own.bytes[own.n_bytes - 1] == ',')
            own.n_bytes--;
        add(fields, kernel_slice(text, name, value - 1), own);
    }
}

/* "fd: 0x3, buf: 0x7f00" */
static void read_list(struct weft_str text, struct ftrace_fields *fields)
{
    while (text.n_bytes) {
        const size_t comma = kernel_find(text, ", ");
        const size_t end = comma == SIZE_MAX ? text.n_bytes : comma;
        const struct weft_str one = kernel_slice(text, 0, end);
        const size_t colon = kernel_find(one, ":");
        if (colon != SIZE_MAX)
            add(fields, kernel_trim(kernel_slice(one, 0, colon)),
                kernel_slice(one, colon + 1, one.n_bytes));
        text = kernel_slice(text, comma == SIZE_MAX ? text.n_bytes : comma + 2, text.n_bytes);
    }
}

/* ---- trace-cmd's forms ----------------------------------------------------------------------- */

/* "comm:12 [120] rest": the comm may have colons. */
static bool read_task(struct weft_str text, struct weft_str *comm, struct weft_str *tid,
                      struct weft_str *rest)
{
    const size_t bracket = kernel_find(text, " [");
    if (bracket == SIZE_MAX)
        return false;
    const struct weft_str task = kernel_trim(kernel_slice(text, 0, bracket));
    size_t colon = task.n_bytes;
    while (colon > 0 && task.bytes[colon - 1] != ':')
        colon--;
    const size_t close = kernel_find(text, "]");
    if (colon == 0 || close == SIZE_MAX || close < bracket)
        return false;
    *comm = kernel_slice(task, 0, colon - 1);
    *tid = kernel_slice(task, colon, task.n_bytes);
    *rest = kernel_trim(kernel_slice(text, close + 1, text.n_bytes));
    return true;
}

/* "a:1 [120] S ==> b:2 [120]" */
static bool read_switch(struct weft_str text, struct ftrace_fields *fields)
{
    struct weft_str comm, tid, state, rest;
    const size_t arrow = kernel_find(text, "==>");
    if (arrow == SIZE_MAX || kernel_find(text, "prev_pid=") != SIZE_MAX ||
        !read_task(kernel_slice(text, 0, arrow), &comm, &tid, &state))
        return false;
    add(fields, WEFT_STR("prev_comm"), comm);
    add(fields, WEFT_STR("prev_pid"), tid);
    add(fields, WEFT_STR("prev_state"), state);
    if (!read_task(kernel_slice(text, arrow + 3, text.n_bytes), &comm, &tid, &rest))
        return false;
    add(fields, WEFT_STR("next_comm"), comm);
    add(fields, WEFT_STR("next_pid"), tid);
    return true;
}

/* "a:1 [120] success=1 CPU:000" */
static bool read_wakeup(struct weft_str text, struct ftrace_fields *fields)
{
    struct weft_str comm, tid, rest;
    if (kernel_find(text, "pid=") != SIZE_MAX || !read_task(text, &comm, &tid, &rest))
        return false;
    add(fields, WEFT_STR("comm"), comm);
    add(fields, WEFT_STR("pid"), tid);
    const size_t cpu = kernel_find(rest, "CPU:");
    if (cpu != SIZE_MAX)
        add(fields, WEFT_STR("target_cpu"), kernel_slice(rest, cpu + 4, rest.n_bytes));
    return true;
}

/* ---- other forms ----------------------------------------------------------------------------- */

/* "(7f00, 0, ...)": hexadecimal. */
static void read_arguments(struct weft_str text, struct ftrace_fields *fields)
{
    static const char *const names[] = { "#0", "#1", "#2" };
    size_t at = kernel_find(text, "(");
    for (size_t k = 0; k < sizeof names / sizeof *names && at < text.n_bytes; k++) {
        const struct weft_str rest = kernel_trim(kernel_slice(text, at + 1, text.n_bytes));
        const size_t comma = kernel_find(rest, ",");
        if (rest.n_bytes == 0 || comma == SIZE_MAX)
            return;
        add(fields, weft_str_of(names[k]), kernel_slice(rest, 0, comma));
        at = (size_t)(rest.bytes - text.bytes) + comma;
    }
}

/* "NR 59 (7f00, 0, ...)", "NR 59 = -2" */
static bool read_numbered(struct weft_str text, struct ftrace_fields *fields)
{
    if (text.n_bytes < 4 || memcmp(text.bytes, "NR ", 3) != 0)
        return false;
    const size_t end = word_end(text, 3);
    const size_t equal = kernel_find(text, "= ");
    add(fields, WEFT_STR("id"), kernel_slice(text, 3, end));
    if (equal != SIZE_MAX)
        add(fields, WEFT_STR("ret"), kernel_slice(text, equal + 2, text.n_bytes));
    else
        read_arguments(text, fields);
    return true;
}

/* "253,0 W 4096 () 12345 + 8 [kworker]", "253,0 W () 12345 + 8 [0]" */
static bool read_request(struct weft_str text, struct ftrace_fields *fields)
{
    const size_t open = kernel_find(text, "("), close = kernel_find(text, ")"),
                 plus = kernel_find(text, " + ");
    const size_t device = word_end(text, 0);
    const size_t kind = device < text.n_bytes ? word_end(text, device + 1) : device;
    if (open == SIZE_MAX || close == SIZE_MAX || plus == SIZE_MAX || kind > open || close > plus)
        return false;
    add(fields, WEFT_STR("dev"), kernel_slice(text, 0, device));
    add(fields, WEFT_STR("rwbs"), kernel_slice(text, device, kind));
    if (kernel_trim(kernel_slice(text, kind, open)).n_bytes)
        add(fields, WEFT_STR("bytes"), kernel_slice(text, kind, open));
    add(fields, WEFT_STR("sector"), kernel_slice(text, close + 1, plus));
    add(fields, WEFT_STR("nr_sector"), kernel_slice(text, plus + 3, word_end(text, plus + 3)));
    return true;
}

static bool read_special(struct weft_str event, struct weft_str text, struct ftrace_fields *fields)
{
    if (weft_str_equal(event, WEFT_STR("sched_switch")))
        return read_switch(text, fields);
    if (weft_str_begins(event, "sched_wak"))
        return read_wakeup(text, fields);
    if (weft_str_equal(event, WEFT_STR("sys_enter")) || weft_str_equal(event, WEFT_STR("sys_exit")))
        return read_numbered(text, fields);
    if (weft_str_begins(event, "block_rq_"))
        return read_request(text, fields);
    if (weft_str_begins(event, "sys_exit_")) {
        add(fields, WEFT_STR("ret"),
            weft_str_begins(text, "->") ? kernel_slice(text, 2, text.n_bytes) : text);
        return true;
    }
    if (weft_str_begins(event, "sys_")) {
        read_list(text, fields);
        return true;
    }
    return false;
}

void ftrace_fields_read(struct weft_str event, struct weft_str text, struct ftrace_fields *fields)
{
    fields->n = 0;
    text = kernel_trim(text);
    if (read_special(event, text, fields))
        return;
    fields->n = 0;
    read_keys(text, fields);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int digit_of(char byte, unsigned base)
{
    int digit = -1;
    if (byte >= '0' && byte <= '9')
        digit = byte - '0';
    else if (byte >= 'a' && byte <= 'f')
        digit = byte - 'a' + 10;
    else if (byte >= 'A' && byte <= 'F')
        digit = byte - 'A' + 10;
    return digit < (int)base ? digit : -1;
}

/* Digits up to something that ends a number; more than 64 bits wrap. */
static bool read_digits(struct weft_str text, unsigned base, uint64_t *number)
{
    size_t k = 0;
    *number = 0;
    for (; k < text.n_bytes && digit_of(text.bytes[k], base) >= 0; k++)
        *number = *number * base + (unsigned)digit_of(text.bytes[k], base);
    return k > 0 && (k == text.n_bytes || strchr(" \t\r,)]}", text.bytes[k]));
}

/* TASK_ states as the kernel counts them; R is 0, and + says that it was preempted. */
static bool read_state(struct weft_str text, uint64_t *number)
{
    static const char letters[] = "SDTtXZPI";
    *number = 0;
    for (size_t k = 0; k < text.n_bytes && !kernel_is_blank(text.bytes[k]); k++) {
        const char *at = memchr(letters, text.bytes[k], sizeof letters - 1);
        if (at)
            *number |= UINT64_C(1) << (at - letters);
        else if (text.bytes[k] == '+')
            *number |= 0x100;
        else if (text.bytes[k] == 'W') /* so trace-cmd calls an idle kernel thread */
            *number |= 0x80;
        else if (!strchr("R|xK", text.bytes[k]))
            return false;
    }
    return text.n_bytes > 0;
}

bool ftrace_field_number(const struct ftrace_field *field, uint64_t *number)
{
    struct weft_str text = field->value;
    const size_t comma = kernel_find(text, ",");
    uint64_t minor;
    *number = 0;
    if (weft_str_equal(field->name, WEFT_STR("prev_state")) && text.n_bytes &&
        digit_of(text.bytes[0], 10) < 0)
        return read_state(text, number);
    if (weft_str_equal(field->name, WEFT_STR("dev")) && comma != SIZE_MAX) {
        const bool is_ok = read_digits(kernel_slice(text, 0, comma), 10, number) &&
                           read_digits(kernel_slice(text, comma + 1, text.n_bytes), 10, &minor);
        *number = *number << 20 | (is_ok ? minor & 0xfffff : 0);
        return is_ok;
    }
    if (weft_str_begins(field->name, "#"))
        return read_digits(text, 16, number);
    const bool is_negative = weft_str_begins(text, "-");
    if (is_negative)
        text = kernel_slice(text, 1, text.n_bytes);
    bool is_ok = false;
    if (weft_str_begins(text, "0x"))
        is_ok = read_digits(kernel_slice(text, 2, text.n_bytes), 16, number);
    else
        is_ok = read_digits(text, 10, number) ||
                (text.n_bytes >= 8 && read_digits(text, 16, number)); /* a bare address */
    if (is_negative)
        *number = 0 - *number;
    return is_ok;
}
