/* SPDX-License-Identifier: MIT
 *
 * A recursive-descent parser over rules_lexer.c; command-line options build the same rules through
 * the same functions, so both have one set of errors. All texts and lists live in the arena of the
 * result.
 */
#include "query/rules.h"

#include "base/file.h"
#include "base/listing.h"
#include "base/vec.h"
#include "query/parse.h"
#include "query/rules_lexer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest text that is read as a number. */
enum { NUMBER_BYTES = 40 };

#define RULE_FORMS                                                                                 \
    "a rule such as call:NAME, enter:NAME, exit:NAME, span:NAME, begin:NAME, end:NAME, "           \
    "mark:NAME, instant:NAME, syscall:NAME, syscall_enter:NAME, syscall_exit:NAME"

/* ---- fields ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum weft_rule_field_kind kind;
} fields[] = {
    { "name", WEFT_FIELD_NAME },       { "category", WEFT_FIELD_CATEGORY },
    { "module", WEFT_FIELD_CATEGORY }, { "id", WEFT_FIELD_ID },
    { "value", WEFT_FIELD_VALUE },     { "ret", WEFT_FIELD_RET },
    { "fd", WEFT_FIELD_FD },           { "duration", WEFT_FIELD_DURATION },
    { "depth", WEFT_FIELD_DEPTH },     { "object", WEFT_FIELD_OBJECT },
    { "cpu", WEFT_FIELD_CPU },         { "thread", WEFT_FIELD_THREAD },
    { "tid", WEFT_FIELD_TID },         { "pid", WEFT_FIELD_PID },
    { "process", WEFT_FIELD_PROCESS }, { "time", WEFT_FIELD_TIME },
};

/* "arg0" to "arg99": false for anything else. */
static bool is_argument(struct weft_str name, uint32_t *index)
{
    if (name.n_bytes < 4 || name.n_bytes > 5 || memcmp(name.bytes, "arg", 3) != 0)
        return false;
    *index = 0;
    for (size_t i = 3; i < name.n_bytes; i++) {
        if (name.bytes[i] < '0' || name.bytes[i] > '9')
            return false;
        *index = *index * 10 + (uint32_t)(name.bytes[i] - '0');
    }
    return true;
}

/* "buf.2": the second word of buf. */
static void split_word(struct weft_str *name, uint32_t *word)
{
    const char *point = name->n_bytes ? memrchr(name->bytes, '.', name->n_bytes) : NULL;
    const size_t n_digits = point ? (size_t)(name->bytes + name->n_bytes - point - 1) : 0;
    uint32_t number = 0;
    *word = 0;
    if (n_digits == 0 || n_digits > 3 || point == name->bytes)
        return;
    for (size_t i = 1; i <= n_digits; i++) {
        if (point[i] < '0' || point[i] > '9')
            return;
        number = number * 10 + (uint32_t)(point[i] - '0');
    }
    if (number == 0)
        return;
    *word = number;
    name->n_bytes = (size_t)(point - name->bytes);
}

static struct weft_rule_field field_of(struct weft_str text)
{
    struct weft_rule_field field = { .kind = WEFT_FIELD_MEMBER };
    split_word(&text, &field.word);
    field.name = text;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (weft_str_equal(text, weft_str_of(fields[i].name)))
            field.kind = fields[i].kind;
    if (is_argument(text, &field.index))
        field.kind = WEFT_FIELD_ARG;
    if (field.kind == WEFT_FIELD_MEMBER && text.n_bytes > 5 && memcmp(text.bytes, "args.", 5) == 0)
        field.name = (struct weft_str){ text.bytes + 5, text.n_bytes - 5 };
    return field;
}

static bool copy_text(struct rules_lexer *lexer, struct weft_str *text)
{
    *text = weft_arena_copy(lexer->arena, *text);
    return text->bytes != NULL;
}

static enum weft_code take_field(struct rules_lexer *lexer, struct weft_rule_field *field)
{
    struct weft_str text;
    WEFT_TRY(rules_take_field(lexer, &text));
    *field = field_of(text);
    return copy_text(lexer, &field->name) ? WEFT_OK : weft_no_memory(lexer->err, "rules");
}

/* ---- conditions ------------------------------------------------------------------------------ */

static enum weft_code take_op(struct rules_lexer *lexer, enum weft_rule_op *op)
{
    static const struct {
        const char *sign;
        enum weft_rule_op op;
    } signs[] = { /* the longer ones first */
                  { "!=", WEFT_OP_DIFFERENT }, { "<=", WEFT_OP_AT_MOST },
                  { ">=", WEFT_OP_AT_LEAST },  { "==", WEFT_OP_EQUAL },
                  { "=", WEFT_OP_EQUAL },      { "<", WEFT_OP_LESS },
                  { ">", WEFT_OP_GREATER }
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (rules_take_sign(lexer, signs[i].sign)) {
            *op = signs[i].op;
            return WEFT_OK;
        }
    return rules_fail(lexer, "one of = != < <= > >=", NULL);
}

/* Integers exactly, decimal or hexadecimal; other numbers; durations with their unit, as ns. */
static void read_number(struct weft_rule_condition *condition)
{
    char text[NUMBER_BYTES + 1], *end = NULL;
    const struct weft_str value = condition->text;
    uint64_t ns;
    if (value.n_bytes == 0 || value.n_bytes > NUMBER_BYTES ||
        !strchr("+-.0123456789", value.bytes[0]))
        return;
    memcpy(text, value.bytes, value.n_bytes);
    text[value.n_bytes] = '\0';
    const bool is_hex = strncmp(text, "0x", 2) == 0;
    errno = 0;
    condition->integer = strtoll(text, &end, is_hex ? 16 : 10);
    condition->is_whole = errno == 0 && *end == '\0' && end > text;
    condition->number = (double)condition->integer;
    condition->is_number = condition->is_whole;
    if (condition->is_whole)
        return;
    condition->integer = 0;
    condition->number = strtod(text, &end);
    condition->is_number = *end == '\0' && end > text && isfinite(condition->number);
    if (condition->is_number || weft_parse_duration(text, &ns, NULL) != WEFT_OK)
        return;
    condition->number = (double)ns;
    condition->is_number = true;
    condition->is_whole = ns <= INT64_MAX;
    condition->integer = condition->is_whole ? (int64_t)ns : 0;
}

static enum weft_code take_condition(struct rules_lexer *lexer,
                                     struct weft_rule_condition *condition)
{
    bool is_quoted = false;
    enum weft_code code = take_field(lexer, &condition->field);
    WEFT_THEN(code, take_op(lexer, &condition->op));
    rules_skip_blanks(lexer);
    const struct rules_lexer before = *lexer;
    WEFT_THEN(code, rules_take_value(lexer, &condition->text, &is_quoted));
    if (code != WEFT_OK)
        return code;
    if (!copy_text(lexer, &condition->text))
        return weft_no_memory(lexer->err, "rules");
    if (!is_quoted)
        read_number(condition);
    if (condition->is_number || condition->op == WEFT_OP_EQUAL ||
        condition->op == WEFT_OP_DIFFERENT)
        return WEFT_OK;
    *lexer = before;
    return rules_fail(lexer, "a number such as 17, 0x1f or 20ms", "only = and != compare texts");
}

struct conditions {
    struct weft_rule_condition *items;
    size_t n, cap;
};

/* The conditions so far and more: in the arena. */
static enum weft_code add_conditions(struct rules_lexer *lexer, struct weft_rule *rule,
                                     const struct weft_rule_condition *more, size_t n)
{
    struct weft_rule_condition *all =
        WEFT_ARENA_NEW(lexer->arena, rule->n_conditions + n, struct weft_rule_condition);
    if (!all)
        return weft_no_memory(lexer->err, "rules");
    if (rule->n_conditions)
        memcpy(all, rule->conditions, rule->n_conditions * sizeof *all);
    if (n)
        memcpy(all + rule->n_conditions, more, n * sizeof *all);
    rule->conditions = all;
    rule->n_conditions += n;
    return WEFT_OK;
}

/* where FIELD OP VALUE and ... */
static enum weft_code take_conditions(struct rules_lexer *lexer, struct weft_rule *rule)
{
    struct weft_rule_condition list[WEFT_RULES_LIST_MAX];
    size_t n = 0;
    if (!rules_take_word(lexer, "where"))
        return WEFT_OK;
    do {
        if (n == WEFT_RULES_LIST_MAX)
            return rules_fail(lexer, "at most 64 conditions", NULL);
        list[n] = (struct weft_rule_condition){ 0 };
        WEFT_TRY(take_condition(lexer, &list[n++]));
    } while (rules_take_word(lexer, "and"));
    return add_conditions(lexer, rule, list, n);
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Kinds that stand for a whole of two events. */
enum whole { NO_WHOLE, WHOLE_SYSCALL, WHOLE_MARK };

static bool find_event(struct weft_str word, enum weft_event_kind *kind)
{
    for (enum weft_event_kind k = 0; k < WEFT_EVENT_KINDS; k++) {
        const char *name = k == WEFT_EVENT_EXIT ? "thread_exit" : weft_event_kind_name(k);
        if (k != WEFT_EVENT_SPAN && k != WEFT_EVENT_CALL_ARGS &&
            weft_str_equal(word, weft_str_of(name))) {
            *kind = k;
            return true;
        }
    }
    return false;
}

static bool find_kind(struct weft_str word, struct weft_rule *rule, enum whole *whole)
{
    static const struct {
        const char *word;
        enum weft_rule_kind kind;
        enum whole whole;
    } kinds[] = {
        { "call", WEFT_RULE_CALL, NO_WHOLE },   { "enter", WEFT_RULE_ENTER, NO_WHOLE },
        { "exit", WEFT_RULE_EXIT, NO_WHOLE },   { "span", WEFT_RULE_SPAN, NO_WHOLE },
        { "begin", WEFT_RULE_BEGIN, NO_WHOLE }, { "end", WEFT_RULE_END, NO_WHOLE },
        { "mark", WEFT_RULE_SPAN, WHOLE_MARK }, { "syscall", WEFT_RULE_EVENT, WHOLE_SYSCALL },
    };
    *whole = NO_WHOLE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (weft_str_equal(word, weft_str_of(kinds[i].word))) {
            rule->kind = kinds[i].kind;
            rule->event = WEFT_EVENT_SYSCALL_ENTER;
            *whole = kinds[i].whole;
            return true;
        }
    rule->kind = WEFT_RULE_EVENT;
    return find_event(word, &rule->event);
}

/* Where a rule is whole: an execution by itself. */
static bool is_whole(const struct weft_rule *rule, enum whole whole)
{
    return rule->kind == WEFT_RULE_CALL || rule->kind == WEFT_RULE_SPAN || whole == WHOLE_SYSCALL;
}

static enum weft_code add_category(struct rules_lexer *lexer, struct weft_rule *rule)
{
    const struct weft_rule_condition marked = {
        .field = { .kind = WEFT_FIELD_CATEGORY, .name = WEFT_STR("category") },
        .text = WEFT_STR("execution"),
    };
    return add_conditions(lexer, rule, &marked, 1);
}

/* KIND[:NAME] [where ...] */
static enum weft_code take_rule(struct rules_lexer *lexer, struct weft_rule *rule,
                                enum whole *whole)
{
    rules_skip_blanks(lexer);
    const struct rules_lexer before = *lexer;
    const struct weft_str kind = rules_peek_word(lexer);
    *rule = (struct weft_rule){ .name = WEFT_STR("*") };
    *whole = NO_WHOLE;
    if (!find_kind(kind, rule, whole))
        return rules_fail(lexer, RULE_FORMS, NULL);
    lexer->at += kind.n_bytes;
    enum weft_code code = WEFT_OK;
    if (lexer->at < lexer->text.n_bytes && lexer->text.bytes[lexer->at] == ':') {
        lexer->at++;
        code = rules_take_value(lexer, &rule->name, &(bool){ false });
    } else if (rule->kind != WEFT_RULE_EVENT || *whole != NO_WHOLE) {
        *lexer = before;
        return rules_fail(lexer, "a name behind the kind, such as call:NAME",
                          "* stands for any name");
    }
    if (code == WEFT_OK && !copy_text(lexer, &rule->name))
        code = weft_no_memory(lexer->err, "rules");
    if (code == WEFT_OK && *whole == WHOLE_MARK)
        code = add_category(lexer, rule);
    return code == WEFT_OK ? take_conditions(lexer, rule) : code;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* A type, and what was said of it so far. */
struct making {
    struct weft_execution_rule rule;
    struct weft_rule_metric metrics[WEFT_RULES_LIST_MAX];
    struct weft_str thread;
    enum whole whole;
    bool has_begin, has_end, has_scope, is_whole;
};

/* The end of a system call as a whole: conditions on what it returned decide there. */
static enum weft_code split_syscall(struct rules_lexer *lexer, struct weft_execution_rule *rule)
{
    struct weft_rule begin = rule->begin;
    struct weft_rule_condition *all = begin.conditions;
    const size_t n = begin.n_conditions;
    rule->begin.conditions = NULL;
    rule->begin.n_conditions = 0;
    rule->end = (struct weft_rule){ .kind = WEFT_RULE_EVENT,
                                    .event = WEFT_EVENT_SYSCALL_EXIT,
                                    .name = begin.name };
    rule->keep = rule->end;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < n && code == WEFT_OK; i++)
        code = add_conditions(
            lexer, all[i].field.kind == WEFT_FIELD_RET ? &rule->keep : &rule->begin, &all[i], 1);
    return code;
}

static enum weft_code set_begin(struct rules_lexer *lexer, struct making *making)
{
    if (making->has_begin)
        return rules_fail(lexer, "one begin for a type", NULL);
    making->has_begin = true;
    enum weft_code code = take_rule(lexer, &making->rule.begin, &making->whole);
    making->is_whole = code == WEFT_OK && is_whole(&making->rule.begin, making->whole);
    return code;
}

static enum weft_code set_end(struct rules_lexer *lexer, struct making *making)
{
    enum whole whole;
    if (making->has_end)
        return rules_fail(lexer, "one end for a type", NULL);
    making->has_end = true;
    rules_skip_blanks(lexer);
    const struct rules_lexer before = *lexer;
    enum weft_code code = take_rule(lexer, &making->rule.end, &whole);
    if (code != WEFT_OK || !is_whole(&making->rule.end, whole))
        return code;
    *lexer = before;
    return rules_fail(lexer, "a point of time to end at, such as exit:NAME or end:NAME",
                      "call:, span:, mark: and syscall: are whole executions");
}

/* match FIELD, or match FIELD = FIELD: of the begin, of the end. */
static enum weft_code set_match(struct rules_lexer *lexer, struct making *making)
{
    if (making->rule.has_match)
        return rules_fail(lexer, "one match for a type",
                          "of two fields neither would count for both");
    enum weft_code code = take_field(lexer, &making->rule.match_begin);
    making->rule.has_match = true;
    making->rule.match_end = making->rule.match_begin;
    if (code == WEFT_OK && rules_take_sign(lexer, "="))
        code = take_field(lexer, &making->rule.match_end);
    return code;
}

static enum weft_code set_scope(struct rules_lexer *lexer, struct making *making)
{
    static const char *const names[] = { "thread", "process", "trace" };
    if (making->has_scope)
        return rules_fail(lexer, "one within for a type", NULL);
    making->has_scope = true;
    for (unsigned i = 0; i < 3; i++)
        if (rules_take_word(lexer, names[i])) {
            making->rule.scope = (enum weft_rule_scope)i;
            return WEFT_OK;
        }
    return rules_fail(lexer, "thread, process or trace", NULL);
}

/* metric NAME, metric NAME = FIELD, metric counter:NAME */
static enum weft_code add_metric(struct rules_lexer *lexer, struct making *making)
{
    static const char counter[] = "counter:";
    struct weft_str name;
    enum weft_code code = rules_take_field(lexer, &name);
    if (code != WEFT_OK)
        return code;
    if (making->rule.n_metrics == WEFT_RULES_LIST_MAX)
        return rules_fail(lexer, "at most 64 metrics of a type", NULL);
    struct weft_rule_metric *metric = &making->metrics[making->rule.n_metrics++];
    *metric = (struct weft_rule_metric){ .name = name };
    if (name.n_bytes >= sizeof counter && memcmp(name.bytes, counter, sizeof counter - 1) == 0)
        metric->name = (struct weft_str){ name.bytes + sizeof counter - 1,
                                          name.n_bytes - (sizeof counter - 1) };
    else if (rules_take_sign(lexer, "="))
        code = take_field(lexer, &metric->field);
    else
        metric->field = field_of(name);
    if (code == WEFT_OK && (!copy_text(lexer, &metric->name) ||
                            (metric->field.kind && !copy_text(lexer, &metric->field.name))))
        code = weft_no_memory(lexer->err, "rules");
    return code;
}

/* thread NAME or TID: of the begin. */
static enum weft_code set_thread(struct rules_lexer *lexer, struct making *making)
{
    struct weft_rule_condition condition = { .op = WEFT_OP_EQUAL };
    bool is_quoted;
    WEFT_TRY(rules_take_value(lexer, &condition.text, &is_quoted));
    if (!is_quoted)
        read_number(&condition);
    condition.field.kind = condition.is_number ? WEFT_FIELD_TID : WEFT_FIELD_THREAD;
    condition.field.name = condition.is_number ? WEFT_STR("tid") : WEFT_STR("thread");
    if (!copy_text(lexer, &condition.text))
        return weft_no_memory(lexer->err, "rules");
    return add_conditions(lexer, &making->rule.begin, &condition, 1);
}

/* The type as it stands, with its metrics. */
static enum weft_code take_making(struct rules_lexer *lexer, const struct making *making,
                                  struct weft_execution_rule *rule)
{
    *rule = making->rule;
    return weft_arena_copy_items(lexer->arena, &rule->metrics, making->metrics, rule->n_metrics,
                                 sizeof *rule->metrics)
               ? WEFT_OK
               : weft_no_memory(lexer->err, "rules");
}

/* What was said, as a whole. */
static enum weft_code finish(struct rules_lexer *lexer, struct making *making,
                             struct weft_execution_rule *rule)
{
    if (making->is_whole && making->has_end)
        return rules_fail(lexer, "no end behind a rule for a whole execution",
                          "take enter:, begin: or syscall_enter: for its begin");
    if (!making->is_whole && !making->has_end)
        return rules_fail(lexer, "an end rule",
                          "or a rule for a whole execution: call:, span:, mark:, syscall:");
    enum weft_code code = WEFT_OK;
    if (making->whole == WHOLE_SYSCALL)
        code = split_syscall(lexer, &making->rule);
    if (!making->has_scope && making->rule.has_match && !making->is_whole)
        making->rule.scope = WEFT_SCOPE_PROCESS;
    return code == WEFT_OK ? take_making(lexer, making, rule) : code;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* What may be said of a type, in any order; a thread adds a condition to the begin, so the begin
 * comes first. */
static enum weft_code take_clauses(struct rules_lexer *lexer, struct making *making)
{
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK && !rules_at_end(lexer)) {
        if (rules_take_word(lexer, "begin") || rules_take_word(lexer, "is"))
            code = set_begin(lexer, making);
        else if (rules_take_word(lexer, "end"))
            code = set_end(lexer, making);
        else if (rules_take_word(lexer, "match"))
            code = set_match(lexer, making);
        else if (rules_take_word(lexer, "within"))
            code = set_scope(lexer, making);
        else if (rules_take_word(lexer, "metric"))
            code = add_metric(lexer, making);
        else if (making->has_begin && rules_take_word(lexer, "thread"))
            code = set_thread(lexer, making);
        else
            break;
    }
    return code;
}

struct list {
    struct weft_execution_rule *items;
    size_t n, cap;
};

/* A name that no other type has: in a database one would replace the other. */
static enum weft_code take_type_name(struct rules_lexer *lexer, const struct list *others,
                                     struct weft_str *name)
{
    rules_skip_blanks(lexer);
    const struct rules_lexer before = *lexer;
    enum weft_code code = rules_take_name(lexer, "a name for the type", name);
    for (size_t i = 0; i < others->n && code == WEFT_OK; i++)
        if (weft_str_equal(others->items[i].name, *name)) {
            *lexer = before;
            return rules_fail(lexer, "a name that no other type has", NULL);
        }
    return code != WEFT_OK || copy_text(lexer, name) ? code : weft_no_memory(lexer->err, "rules");
}

static enum weft_code take_type(struct rules_lexer *lexer, struct making *making,
                                const struct list *others, struct weft_execution_rule *rule)
{
    enum weft_code code = take_type_name(lexer, others, &making->rule.name);
    WEFT_THEN(code, take_clauses(lexer, making));
    if (code == WEFT_OK && !making->has_begin)
        code = rules_fail(lexer, "'begin RULE' or 'is RULE'", NULL);
    return code == WEFT_OK ? finish(lexer, making, rule) : code;
}

/* depend NAME from RULE to RULE [match FIELD] [within thread|process|trace] */
static enum weft_code take_dependency(struct rules_lexer *lexer, struct making *making,
                                      struct weft_execution_rule *rule)
{
    enum weft_code code = rules_take_name(lexer, "a name for the dependency", &making->rule.name);
    if (code == WEFT_OK && !copy_text(lexer, &making->rule.name))
        code = weft_no_memory(lexer->err, "rules");
    if (code == WEFT_OK && !rules_take_word(lexer, "from"))
        code = rules_fail(lexer, "'from RULE': where what is depended on is done", NULL);
    rules_skip_blanks(lexer);
    const struct rules_lexer from = *lexer;
    WEFT_THEN(code, set_begin(lexer, making));
    if (code == WEFT_OK && making->is_whole) {
        *lexer = from;
        code = rules_fail(lexer, "a point of time, such as exit:NAME or instant:NAME", NULL);
    }
    if (code == WEFT_OK && !rules_take_word(lexer, "to"))
        code = rules_fail(lexer, "'to RULE': where the dependent execution continues", NULL);
    WEFT_THEN(code, set_end(lexer, making));
    making->rule.scope = WEFT_SCOPE_TRACE;
    while (code == WEFT_OK) {
        if (rules_take_word(lexer, "match"))
            code = set_match(lexer, making);
        else if (rules_take_word(lexer, "within"))
            code = set_scope(lexer, making);
        else
            break;
    }
    making->has_scope = true;
    return code == WEFT_OK ? finish(lexer, making, rule) : code;
}

static enum weft_code take_statement(struct rules_lexer *lexer, struct making *making,
                                     struct list *types, struct list *dependencies)
{
    const bool is_type = rules_take_word(lexer, "execution");
    struct list *list = is_type ? types : dependencies;
    if (!is_type && !rules_take_word(lexer, "depend"))
        return rules_fail(lexer, "'execution NAME' or 'depend NAME'",
                          "docs/rules.md describes the language");
    if (list->n == WEFT_RULES_TYPES_MAX)
        return rules_fail(lexer, "at most 256 types and 256 dependencies", NULL);
    const size_t n_others = list->n;
    struct weft_execution_rule *rule = WEFT_VEC_PUSH(list);
    if (!rule)
        return weft_no_memory(lexer->err, "rules");
    memset(making, 0, sizeof *making);
    const struct list others = { .items = list->items, .n = n_others };
    return is_type ? take_type(lexer, making, &others, rule) : take_dependency(lexer, making, rule);
}

static enum weft_code keep(struct weft_arena *arena, const struct list *types,
                           const struct list *dependencies, struct weft_rules **rules,
                           struct weft_err *err)
{
    struct weft_rules *made = WEFT_ARENA_NEW(arena, 1, struct weft_rules);
    if (!made ||
        !weft_arena_copy_items(arena, &made->types, types->items, types->n, sizeof *types->items) ||
        !weft_arena_copy_items(arena, &made->dependencies, dependencies->items, dependencies->n,
                               sizeof *dependencies->items))
        return weft_no_memory(err, "rules");
    made->arena = arena;
    made->n_types = types->n;
    made->n_dependencies = dependencies->n;
    *rules = made;
    return WEFT_OK;
}

enum weft_code weft_rules_parse(struct weft_str text, struct weft_rules **rules,
                                struct weft_err *err)
{
    struct rules_lexer lexer = { .text = text, .arena = weft_arena_new(0), .err = err };
    struct making *making = malloc(sizeof *making);
    struct list types = { 0 }, dependencies = { 0 };
    *rules = NULL;
    enum weft_code code = lexer.arena && making ? WEFT_OK : weft_no_memory(err, "rules");
    if (code == WEFT_OK && text.n_bytes > WEFT_RULES_BYTES_MAX)
        code = weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "expected rules of at most 1 MiB, found %zu bytes", text.n_bytes);
    while (code == WEFT_OK && !rules_at_end(&lexer))
        code = take_statement(&lexer, making, &types, &dependencies);
    WEFT_THEN(code, keep(lexer.arena, &types, &dependencies, rules, err));
    if (code != WEFT_OK && lexer.arena)
        weft_arena_free(lexer.arena);
    free(making);
    WEFT_VEC_FINI(&types);
    WEFT_VEC_FINI(&dependencies);
    return code;
}

enum weft_code weft_rules_read(const char *path, struct weft_rules **rules, struct weft_err *err)
{
    struct weft_mapped file;
    *rules = NULL;
    WEFT_TRY(weft_mapped_open(path, &file, err));
    enum weft_code code = weft_rules_parse(
        (struct weft_str){ (const char *)file.bytes, (size_t)file.n_bytes }, rules, err);
    weft_mapped_close(&file);
    return code == WEFT_OK ? WEFT_OK : weft_in_file(err, path);
}

/* ---- options --------------------------------------------------------------------------------- */

typedef enum weft_code (*take_fn)(struct rules_lexer *lexer, struct making *making);

/* All of an option's text. */
static enum weft_code take_option(struct rules_lexer *lexer, struct making *making,
                                  const char *name, const char *text, take_fn take)
{
    if (!text)
        return WEFT_OK;
    lexer->text = weft_str_of(text);
    lexer->at = 0;
    enum weft_code code = take(lexer, making);
    if (code == WEFT_OK && !rules_at_end(lexer))
        code = rules_fail(lexer, "nothing more", "a name with blanks stands in quotes");
    if (code != WEFT_OK)
        (void)weft_in_file(lexer->err, name); /* which may be NULL */
    return code;
}

static enum weft_code add_metrics(struct rules_lexer *lexer, struct making *making)
{
    enum weft_code code;
    do
        code = add_metric(lexer, making);
    while (code == WEFT_OK && rules_take_sign(lexer, ","));
    return code;
}

static enum weft_code take_options(struct rules_lexer *lexer, struct making *making,
                                   const struct weft_rule_options *options,
                                   struct weft_execution_rule *rule)
{
    enum weft_code code = take_option(lexer, making, "--begin", options->begin, set_begin);
    WEFT_THEN(code, take_option(lexer, making, "--end", options->end, set_end));
    WEFT_THEN(code, take_option(lexer, making, "--match", options->match, set_match));
    WEFT_THEN(code, take_option(lexer, making, "--within", options->within, set_scope));
    WEFT_THEN(code, take_option(lexer, making, "--thread", options->thread, set_thread));
    WEFT_THEN(code, take_option(lexer, making, "--metric", options->metrics, add_metrics));
    WEFT_THEN(code, finish(lexer, making, rule));
    if (code != WEFT_OK)
        return weft_in_file(lexer->err, making->is_whole ? "--begin" : "--end");
    rule->name = options->type && *options->type ? weft_str_of(options->type) : rule->begin.name;
    return copy_text(lexer, &rule->name) ? WEFT_OK : weft_no_memory(lexer->err, "rules");
}

enum weft_code weft_rules_of_options(const struct weft_rule_options *options,
                                     struct weft_rules **rules, struct weft_err *err)
{
    struct rules_lexer lexer = { .arena = weft_arena_new(0), .err = err };
    struct making *making = calloc(1, sizeof *making);
    struct weft_execution_rule rule = { 0 };
    const struct list types = { .items = &rule, .n = 1 }, none = { 0 };
    *rules = NULL;
    enum weft_code code = lexer.arena && making ? WEFT_OK : weft_no_memory(err, "rules");
    if (code == WEFT_OK && !options->begin)
        code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected --begin RULE");
    WEFT_THEN(code, take_options(&lexer, making, options, &rule));
    WEFT_THEN(code, keep(lexer.arena, &types, &none, rules, err));
    if (code != WEFT_OK && lexer.arena)
        weft_arena_free(lexer.arena);
    free(making);
    return code;
}

/* Any rule but for a whole system call, of which the begin alone would be found. */
static enum weft_code set_counted(struct rules_lexer *lexer, struct making *making)
{
    enum whole whole;
    rules_skip_blanks(lexer);
    const struct rules_lexer before = *lexer;
    enum weft_code code = take_rule(lexer, &making->rule.begin, &whole);
    if (code != WEFT_OK || whole != WHOLE_SYSCALL)
        return code;
    *lexer = before;
    return rules_fail(lexer, "syscall_enter:NAME or syscall_exit:NAME", NULL);
}

static enum weft_code add_fields(struct rules_lexer *lexer, struct making *making)
{
    enum weft_code code = add_metrics(lexer, making);
    for (size_t i = 0; i < making->rule.n_metrics && code == WEFT_OK; i++)
        if (!making->metrics[i].field.kind)
            code = rules_fail(lexer, "fields", "counters do not separate anything");
    return code;
}

enum weft_code weft_rules_given(const char *path, const struct weft_rule_options *options,
                                struct weft_rules **rules, struct weft_err *err)
{
    *rules = NULL;
    if (path && (options->begin || options->end || options->match || options->within ||
                 options->thread || options->metrics))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "--rules, and --begin, --end, --match, --within, --thread, --metric "
                         "exclude each other");
    if (path)
        return weft_rules_read(path, rules, err);
    if (options->begin)
        return weft_rules_of_options(options, rules, err);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "a trace has no executions by itself: expected --begin RULE or --rules FILE, "
                     "or a database of executions ('weft executions --help')");
}

enum weft_code weft_rules_of_count(const char *rule, const char *by, struct weft_rules **rules,
                                   struct weft_err *err)
{
    struct rules_lexer lexer = { .arena = weft_arena_new(0), .err = err };
    struct making *making = calloc(1, sizeof *making);
    struct weft_execution_rule type = { 0 };
    const struct list types = { .items = &type, .n = 1 }, none = { 0 };
    *rules = NULL;
    enum weft_code code = lexer.arena && making ? WEFT_OK : weft_no_memory(err, "rules");
    WEFT_THEN(code, take_option(&lexer, making, "--count", rule, set_counted));
    WEFT_THEN(code, take_option(&lexer, making, "--by", by ? by : "name", add_fields));
    WEFT_THEN(code, take_making(&lexer, making, &type));
    type.name = type.begin.name;
    WEFT_THEN(code, keep(lexer.arena, &types, &none, rules, err));
    if (code != WEFT_OK && lexer.arena)
        weft_arena_free(lexer.arena);
    free(making);
    return code;
}

/* Says which types there are. */
static enum weft_code no_type(const struct weft_rules *rules, const char *name,
                              struct weft_err *err)
{
    struct weft_listing names = { 0 };
    for (size_t i = 0; i < rules->n_types; i++)
        weft_listing_add(&names, rules->types[i].name);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "the rules have no type '%.60s'; there are %s", name, names.text);
}

enum weft_code weft_rules_choose(struct weft_rules *rules, const char *name, struct weft_err *err)
{
    bool is_found = false;
    size_t at = 0;
    for (size_t i = 0; i < rules->n_types && !is_found; i++)
        if (weft_str_equal(rules->types[i].name, weft_str_of(name))) {
            is_found = true;
            at = i;
        }
    if (!is_found)
        return no_type(rules, name, err);
    rules->types[0] = rules->types[at];
    rules->n_types = 1;
    return WEFT_OK;
}

struct weft_str weft_rule_text(struct weft_arena *arena, const char *kind, struct weft_str name)
{
    const size_t n_kind = strlen(kind);
    char *text = weft_arena_alloc(arena, n_kind + 2 * name.n_bytes + 4, 1);
    bool is_plain = name.n_bytes > 0 && name.bytes[0] != '"';
    if (!text)
        return (struct weft_str){ 0 };
    for (size_t i = 0; i < name.n_bytes; i++)
        is_plain &= !strchr(" \t\n\r", name.bytes[i]);
    size_t n = n_kind;
    memcpy(text, kind, n_kind);
    text[n++] = ':';
    if (!is_plain)
        text[n++] = '"';
    for (size_t i = 0; i < name.n_bytes; i++) {
        if (!is_plain && (name.bytes[i] == '"' || name.bytes[i] == '\\'))
            text[n++] = '\\';
        text[n++] = name.bytes[i];
    }
    if (!is_plain)
        text[n++] = '"';
    return (struct weft_str){ text, n };
}
