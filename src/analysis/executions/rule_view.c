/* SPDX-License-Identifier: MIT
 *
 * Evaluates one field or condition at a call or an event: names, arguments, members of a JSON
 * payload, results of system calls, properties of the thread. The view borrows all texts; unescaped
 * ones live in its own buffer until the next point.
 */
#include "analysis/executions/rule_view.h"

#include "base/json_read.h"
#include "model/operations.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longest text that is read as a number. */
enum { NUMBER_BYTES = 40 };

void weft_rule_view_fini(struct weft_rule_view *view)
{
    free(view->text.bytes);
    view->text.bytes = NULL;
    view->text.cap = 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

static struct weft_rule_value whole(int64_t integer)
{
    return (struct weft_rule_value){ .kind = WEFT_VALUE_WHOLE,
                                     .integer = integer,
                                     .number = (double)integer };
}

/* All of a text as an integer, decimal or after 0x hexadecimal, else as another number. */
static struct weft_rule_value value_of_text(struct weft_str text)
{
    struct weft_rule_value value = { .kind = WEFT_VALUE_TEXT, .text = text };
    char copy[NUMBER_BYTES + 1], *end = copy;
    if (text.n_bytes == 0 || text.n_bytes > NUMBER_BYTES ||
        !memchr("+-.0123456789", text.bytes[0], 13))
        return value;
    memcpy(copy, text.bytes, text.n_bytes);
    copy[text.n_bytes] = '\0';
    errno = 0;
    const int base = copy[0] == '0' && copy[1] == 'x' ? 16 : 10;
    value.integer = strtoll(copy, &end, base);
    if (errno == ERANGE && copy[0] != '-') { /* addresses */
        errno = 0;
        value.integer = (int64_t)strtoull(copy, &end, base);
    }
    value.number = (double)value.integer;
    if (errno == 0 && end == copy + text.n_bytes) {
        value.kind = WEFT_VALUE_WHOLE;
        return value;
    }
    value.integer = 0;
    value.number = strtod(copy, &end);
    if (end == copy + text.n_bytes && isfinite(value.number))
        value.kind = WEFT_VALUE_REAL;
    return value;
}

static bool is_between(char c)
{
    return c == ' ' || c == '\t' || c == '|' || c == '\n';
}

/* Word `number` (from 1) of a text, or nothing. Words are separated by blanks or |. */
static struct weft_str word_of(struct weft_str text, uint32_t number)
{
    size_t at = 0, begin = 0;
    while (number > 0) {
        while (at < text.n_bytes && is_between(text.bytes[at]))
            at++;
        if (at == text.n_bytes)
            return (struct weft_str){ 0 };
        begin = at;
        while (at < text.n_bytes && !is_between(text.bytes[at]))
            at++;
        number--;
    }
    return (struct weft_str){ text.bytes + begin, at - begin };
}

static struct weft_rule_value text_value(struct weft_str text, uint32_t word)
{
    if (word)
        text = word_of(text, word);
    return text.bytes ? value_of_text(text) : (struct weft_rule_value){ 0 };
}

static uint64_t mix(uint64_t hash)
{
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

uint64_t weft_rule_value_key(const struct weft_rule_value *value)
{
    uint64_t bits;
    if (value->kind == WEFT_VALUE_WHOLE)
        return (uint64_t)value->integer;
    if (value->kind == WEFT_VALUE_REAL) {
        memcpy(&bits, &value->number, sizeof bits);
        return mix(bits + 1);
    }
    bits = UINT64_C(0xcbf29ce484222325); /* FNV-1a, mixed */
    for (size_t i = 0; i < value->text.n_bytes; i++)
        bits = (bits ^ (uint8_t)value->text.bytes[i]) * UINT64_C(0x100000001b3);
    return mix(bits);
}

/* ---- the payload ----------------------------------------------------------------------------- */

static bool open_object(struct weft_json_reader *reader)
{
    return weft_json_take(reader, '{');
}

/* The value of the member `name` of the object that `text` is; false if there is none. */
static bool find_member(struct weft_str text, struct weft_str name, struct weft_json_value *value)
{
    struct weft_json_reader reader = weft_json_reader_of(text.bytes, text.n_bytes);
    struct weft_json_value key;
    bool is_end = false;
    if (text.n_bytes == 0 || !open_object(&reader))
        return false;
    for (bool is_first = true; weft_json_member(&reader, is_first, &key, &is_end) && !is_end;
         is_first = false) {
        if (!weft_json_value(&reader, value))
            return false;
        if (weft_str_equal((struct weft_str){ key.bytes, key.n_bytes }, name))
            return true;
    }
    return false;
}

/* Also "a.b", the member b of the member a; each step leaves a shorter name. */
static bool find_path(struct weft_str text, struct weft_str name, struct weft_json_value *value)
{
    for (;;) {
        if (find_member(text, name, value))
            return true;
        const char *point = name.n_bytes ? memchr(name.bytes, '.', name.n_bytes) : NULL;
        const size_t n_front = point ? (size_t)(point - name.bytes) : 0;
        if (!point || !find_member(text, (struct weft_str){ name.bytes, n_front }, value) ||
            value->type != WEFT_JSON_OBJECT)
            return false;
        text = (struct weft_str){ value->bytes, value->n_bytes };
        name = (struct weft_str){ point + 1, name.n_bytes - n_front - 1 };
    }
}

static struct weft_str unescaped(struct weft_rule_view *view, const struct weft_json_value *value)
{
    if (!value->has_escapes)
        return (struct weft_str){ value->bytes, value->n_bytes };
    if (value->n_bytes > view->text.cap) {
        char *bytes = realloc(view->text.bytes, value->n_bytes);
        if (!bytes)
            return (struct weft_str){ 0 };
        view->text.bytes = bytes;
        view->text.cap = value->n_bytes;
    }
    return (struct weft_str){ view->text.bytes, weft_json_unescape(value, view->text.bytes) };
}

static struct weft_rule_value member_value(struct weft_rule_view *view,
                                           const struct weft_rule_field *field)
{
    struct weft_json_value value;
    if (!find_path(view->payload, field->name, &value))
        return (struct weft_rule_value){ 0 };
    if (value.type == WEFT_JSON_TRUE || value.type == WEFT_JSON_FALSE)
        return whole(value.type == WEFT_JSON_TRUE);
    if (value.type == WEFT_JSON_NULL)
        return (struct weft_rule_value){ 0 };
    return text_value(unescaped(view, &value), field->word);
}

void weft_rule_view_numbers(const struct weft_rule_view *view,
                            void (*see)(void *context, struct weft_str name, double value),
                            void *context)
{
    struct weft_json_reader reader =
        weft_json_reader_of(view->payload.bytes, view->payload.n_bytes);
    struct weft_json_value key, value;
    bool is_end = false;
    if (view->payload.n_bytes == 0 || !open_object(&reader))
        return;
    for (bool is_first = true; weft_json_member(&reader, is_first, &key, &is_end) && !is_end;
         is_first = false) {
        if (!weft_json_value(&reader, &value))
            return;
        const struct weft_rule_value number =
            value_of_text((struct weft_str){ value.bytes, value.n_bytes });
        if (value.type == WEFT_JSON_NUMBER && number.kind != WEFT_VALUE_TEXT)
            see(context, (struct weft_str){ key.bytes, key.n_bytes }, number.number);
    }
}

/* ---- fields ---------------------------------------------------------------------------------- */

static const struct weft_thread_info *thread_of(const struct weft_trace *trace, uint32_t thread_id)
{
    return &weft_trace_thread(trace, thread_id)->info;
}

/* The name of the thread whose tid is the process' id. */
static struct weft_rule_value process_name(const struct weft_trace *trace, uint32_t thread_id,
                                           uint32_t word)
{
    const struct weft_thread_info *own = thread_of(trace, thread_id);
    for (uint32_t id = 0; own->pid && id < weft_trace_n_threads(trace); id++) {
        const struct weft_thread_info *info = thread_of(trace, id);
        if (info->tid == own->pid && info->host_id == own->host_id)
            return text_value(info->name, word);
    }
    return (struct weft_rule_value){ 0 };
}

/* What is the same for all points of a thread. */
static bool thread_value(const struct weft_trace *trace, uint32_t thread_id,
                         const struct weft_rule_field *field, struct weft_rule_value *value)
{
    switch (field->kind) {
    case WEFT_FIELD_THREAD:
        *value = text_value(thread_of(trace, thread_id)->name, field->word);
        return true;
    case WEFT_FIELD_TID:
        *value = whole((int64_t)thread_of(trace, thread_id)->tid);
        return true;
    case WEFT_FIELD_PID:
        if (thread_of(trace, thread_id)->pid)
            *value = whole((int64_t)thread_of(trace, thread_id)->pid);
        return true;
    case WEFT_FIELD_PROCESS:
        *value = process_name(trace, thread_id, field->word);
        return true;
    default:
        return false;
    }
}

static struct weft_rule_value argument(const struct weft_rule_view *view, uint32_t index)
{
    const struct weft_event *event = view->event;
    if (!event)
        return index < view->n_args ? whole((int64_t)view->args[index])
                                    : (struct weft_rule_value){ 0 };
    if (event->kind != WEFT_EVENT_SYSCALL_ENTER || index > 1)
        return (struct weft_rule_value){ 0 };
    return whole(index ? (int64_t)event->prev_state : (int64_t)event->value);
}

static struct weft_rule_value event_number(const struct weft_rule_view *view,
                                           enum weft_rule_field_kind kind)
{
    const struct weft_event *event = view->event;
    const struct weft_rule_value none = { 0 };
    if (!event)
        return none;
    if (kind == WEFT_FIELD_OBJECT)
        return event->object_id == WEFT_ID_NONE ? none : whole(event->object_id);
    if (kind == WEFT_FIELD_CPU)
        return event->cpu < 0 ? none : whole(event->cpu);
    if (kind == WEFT_FIELD_RET && event->kind != WEFT_EVENT_SYSCALL_EXIT)
        return none;
    if (event->kind != WEFT_EVENT_COUNTER)
        return whole((int64_t)event->value);
    return (struct weft_rule_value){ .kind = WEFT_VALUE_REAL,
                                     .number = weft_counter_double(event->value) };
}

/* Of the event, or of the function that is called. */
static struct weft_str name_of(const struct weft_rule_view *view)
{
    return view->event ? view->event->name
                       : weft_trace_function(view->trace, view->function_id)->name;
}

/* Numbers of errors have been below this for thirty years. */
enum { MOST_ERRORS = 4096 };

/* "EAGAIN" as the kernel returns it. */
static struct weft_rule_value error_value(struct weft_str name)
{
    for (int number = 1; number < MOST_ERRORS; number++) {
        const char *known = strerrorname_np(number);
        if (known && weft_str_equal(name, weft_str_of(known)))
            return whole(-(int64_t)number);
    }
    return (struct weft_rule_value){ 0 };
}

/* What an operation returned, at its end. */
static struct weft_rule_value result(struct weft_rule_view *view)
{
    const struct weft_rule_field field = { .kind = WEFT_FIELD_MEMBER, .name = WEFT_STR("result") };
    struct weft_rule_value value = { 0 };
    if (view->is_operation && view->is_exit)
        value = member_value(view, &field);
    return value.kind == WEFT_VALUE_TEXT ? error_value(value.text) : value;
}

static uint64_t hash_of(struct weft_str name)
{
    return weft_rule_value_key(&(struct weft_rule_value){ .kind = WEFT_VALUE_TEXT, .text = name });
}

void weft_rule_view_passed(struct weft_rule_view *view, const struct weft_event *event)
{
    if (event->kind == WEFT_EVENT_SYSCALL_EXIT)
        view->entry.is_known = false;
    if (event->kind != WEFT_EVENT_SYSCALL_ENTER)
        return;
    view->entry.is_known = true;
    view->entry.name = hash_of(event->name);
    view->entry.argument = event->value;
}

/* The first argument of a system call, at its begin or at its end. Of operations it is known at the
 * end, too. */
static struct weft_rule_value first_argument(const struct weft_rule_view *view)
{
    if (!view->event || view->event->kind != WEFT_EVENT_SYSCALL_EXIT)
        return argument(view, 0);
    return view->entry.is_known && view->entry.name == hash_of(view->event->name)
               ? whole((int64_t)view->entry.argument)
               : (struct weft_rule_value){ 0 };
}

/* The descriptor of a system call: what it returned, if it makes one and did not fail, or its first
 * argument. */
static struct weft_rule_value descriptor(struct weft_rule_view *view)
{
    if (!view->event && weft_operation_lacks_descriptor(name_of(view)))
        return (struct weft_rule_value){ 0 };
    const bool is_end = view->event ? view->event->kind == WEFT_EVENT_SYSCALL_EXIT
                                    : view->is_operation && view->is_exit;
    if (!is_end || !weft_operation_makes_descriptor(name_of(view)))
        return first_argument(view);
    const struct weft_rule_value returned =
        view->event ? event_number(view, WEFT_FIELD_RET) : result(view);
    return returned.integer < 0 ? (struct weft_rule_value){ 0 } : returned;
}

struct weft_rule_value weft_rule_field_get(struct weft_rule_view *view,
                                           const struct weft_rule_field *field)
{
    struct weft_rule_value value = { 0 };
    if (thread_value(view->trace, view->thread_id, field, &value))
        return value;
    switch (field->kind) {
    case WEFT_FIELD_NAME:
        return text_value(name_of(view), field->word);
    case WEFT_FIELD_CATEGORY:
        return text_value(view->event ? view->event->category
                                      : weft_trace_function(view->trace, view->function_id)->module,
                          field->word);
    case WEFT_FIELD_ID:
        value = member_value(view, field);
        return value.kind != WEFT_VALUE_ABSENT ? value : event_number(view, WEFT_FIELD_VALUE);
    case WEFT_FIELD_ARG:
        return argument(view, field->index);
    case WEFT_FIELD_FD:
        value = member_value(view, field);
        return value.kind != WEFT_VALUE_ABSENT ? value : descriptor(view);
    case WEFT_FIELD_DURATION:
        return whole((int64_t)view->duration_ns);
    case WEFT_FIELD_DEPTH:
        return view->event ? value : whole(view->depth);
    case WEFT_FIELD_TIME:
        return whole((int64_t)view->at_ns);
    case WEFT_FIELD_RET:
        return view->event ? event_number(view, WEFT_FIELD_RET) : result(view);
    case WEFT_FIELD_VALUE:
    case WEFT_FIELD_OBJECT:
    case WEFT_FIELD_CPU:
        return event_number(view, field->kind);
    default:
        return member_value(view, field);
    }
}

/* ---- conditions ------------------------------------------------------------------------------ */

static int compare(const struct weft_rule_value *value, const struct weft_rule_condition *condition)
{
    if (value->kind == WEFT_VALUE_WHOLE && condition->is_whole)
        return (value->integer > condition->integer) - (value->integer < condition->integer);
    return (value->number > condition->number) - (value->number < condition->number);
}

static bool is_equal(const struct weft_rule_value *value,
                     const struct weft_rule_condition *condition)
{
    const bool is_number = value->kind == WEFT_VALUE_WHOLE || value->kind == WEFT_VALUE_REAL;
    if (is_number && condition->is_number)
        return compare(value, condition) == 0;
    return value->text.bytes && weft_rule_text_matches(condition->text, value->text);
}

static bool holds(const struct weft_rule_value *value, const struct weft_rule_condition *condition)
{
    const bool is_there = value->kind != WEFT_VALUE_ABSENT;
    if (condition->op == WEFT_OP_EQUAL)
        return is_there && is_equal(value, condition);
    if (condition->op == WEFT_OP_DIFFERENT)
        return !is_there || !is_equal(value, condition);
    if (!is_there || value->kind == WEFT_VALUE_TEXT)
        return false;
    const int order = compare(value, condition);
    switch (condition->op) {
    case WEFT_OP_LESS:
        return order < 0;
    case WEFT_OP_AT_MOST:
        return order <= 0;
    case WEFT_OP_GREATER:
        return order > 0;
    default:
        return order >= 0;
    }
}

bool weft_rule_holds(struct weft_rule_view *view, const struct weft_rule *rule)
{
    for (size_t i = 0; i < rule->n_conditions; i++) {
        const struct weft_rule_value value = weft_rule_field_get(view, &rule->conditions[i].field);
        if (!holds(&value, &rule->conditions[i]))
            return false;
    }
    return true;
}

bool weft_rule_is_of_thread(const struct weft_trace *trace, uint32_t thread_id,
                            const struct weft_rule *rule)
{
    for (size_t i = 0; i < rule->n_conditions; i++) {
        struct weft_rule_value value = { 0 };
        if (thread_value(trace, thread_id, &rule->conditions[i].field, &value) &&
            !holds(&value, &rule->conditions[i]))
            return false;
    }
    return true;
}

bool weft_rule_names(const struct weft_rule *rule, struct weft_str name)
{
    if (weft_rule_text_matches(rule->name, name))
        return true;
    const char *colon =
        rule->kind == WEFT_RULE_EVENT && rule->event == WEFT_EVENT_INSTANT && name.n_bytes
            ? memchr(name.bytes, ':', name.n_bytes)
            : NULL;
    if (!colon)
        return false;
    const struct weft_str rest = { colon + 1, (size_t)(name.bytes + name.n_bytes - colon - 1) };
    return weft_rule_text_matches(rule->name, rest);
}
