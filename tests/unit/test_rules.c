/* SPDX-License-Identifier: MIT
 *
 * Rules: what is understood of them, what is said about those that are not, and dependencies that
 * paths follow.
 */
#include "analysis/path/critical_path.h"
#include "failing_alloc.h"
#include "query/rules.h"
#include "query/session.h"
#include "text_trace.h"

static void matches(void)
{
    static const struct {
        const char *pattern, *text;
        bool is_match;
    } rows[] = {
        { "abc", "abc", true },       { "abc", "abcd", false },    { "", "", true },
        { "", "a", false },           { "*", "", true },           { "*", "anything", true },
        { "a*", "abc", true },        { "*c", "abc", true },       { "a*c", "abcbc", true },
        { "a*b*c", "aXbYbZc", true }, { "a*b*c", "aXcYb", false }, { "a?c", "abc", true },
        { "a?c", "ac", false },       { "**a**", "bab", true },    { "*aab", "aaaaab", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tap_ok(weft_rule_text_matches(weft_str_of(rows[i].pattern), weft_str_of(rows[i].text)) ==
                   rows[i].is_match,
               "'%s' and '%s'", rows[i].pattern, rows[i].text);
}

static void refusals(void)
{
    static const struct {
        const char *text, *expected;
        uint64_t line;
    } rows[] = {
        { "begin enter:f", "column 1: expected 'execution NAME' or 'depend NAME', found 'begin'",
          1 },
        { "execution", "expected a name for the type, found the end", 1 },
        { "execution a\n", "expected 'begin RULE' or 'is RULE', found the end", 2 },
        { "execution a\n  begin enter:f\n", "expected an end rule", 3 },
        { "execution a is call:f\n end exit:f", "no end behind a rule for a whole execution", 2 },
        { "execution a begin enter:f end call:f", "column 31: expected a point of time to end at",
          1 },
        { "execution a is cal:f", "column 16: expected a rule such as call:NAME", 1 },
        { "execution a is call where x=1", "expected a name behind the kind", 1 },
        { "execution a is call:f where duration > slow",
          "column 40: expected a number such as 17, 0x1f or 20ms, found 'slow'", 1 },
        { "execution a is call:f where duration ~ 3", "expected one of = != < <= > >=, found '~'",
          1 },
        { "execution a is call:f where = 3", "expected a field such as id", 1 },
        { "execution a is call:f within here", "expected thread, process or trace, found 'here'",
          1 },
        { "execution a is call:\"f", "expected quotes on both sides of a text", 1 },
        { "execution a is call:f is call:g", "expected one begin for a type", 1 },
        { "# nothing\n\ndepend q to enter:f", "column 10: expected 'from RULE'", 3 },
        { "execution r is call: #400", "a value, found the end", 1 },
        { "depend q from exit:f", "expected 'to RULE'", 1 },
        { "depend q from call:f to enter:g", "column 15: expected a point of time", 1 },
        { "execution a is call:f\x1b[31m\n x", "found 'x'", 2 },
        { "execution a is call:f execution b is call:f\nexecution \"a\" is call:g",
          "column 11: expected a name that no other type has, found '\"a\"'", 2 },
        { "execution a begin enter:f end exit:f match id match fd",
          "column 53: expected one match for a type, found 'fd'", 1 },
        { "execution a is call:f within thread within trace", "expected one within for a type", 1 },
        { "depend q from exit:f to enter:g match id match fd", "expected one match", 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct weft_rules *rules;
        struct weft_err err = { 0 };
        const enum weft_code code = weft_rules_parse(weft_str_of(rows[i].text), &rules, &err);
        tap_eq_u64(code, WEFT_E_MALFORMED, "'%s' is refused", rows[i].text);
        tap_ok(err.line == rows[i].line && strstr(err.text, rows[i].expected),
               "line %" PRIu64 ": %s", err.line, err.text);
    }
}

/* A rule without a kind's colon is for all of that kind; words, numbers, quotes. */
static void meanings(void)
{
    static const char text[] = "execution \"a type\" # comment\n"
                               "  begin syscall_exit:accept* where ret >= 0x10 and x.2 != \"b c\"\n"
                               "  thread 17 match fd = arg0 within trace\n"
                               "  metric n metric m = args.a.b metric counter:depth\n"
                               "  end thread_exit\n"
                               "execution r is syscall:read where ret > 1us and arg0 = 3\n"
                               "execution m is mark:request\n"
                               "depend q from exit:push to enter:pop match item\n";
    struct weft_rules *rules = NULL;
    struct weft_err err = { 0 };
    if (!tap_eq_u64(weft_rules_parse(weft_str_of(text), &rules, &err), WEFT_OK, "rules are read")) {
        tap_note("line %" PRIu64 ": %s", err.line, err.text);
        return;
    }
    const struct weft_execution_rule *a = &rules->types[0], *r = &rules->types[1],
                                     *m = &rules->types[2], *q = &rules->dependencies[0];
    tap_ok(rules->n_types == 3 && rules->n_dependencies == 1, "three types, one dependency");
    tap_ok(weft_str_equal(a->name, WEFT_STR("a type")), "a name in quotes");
    tap_ok(a->begin.event == WEFT_EVENT_SYSCALL_EXIT &&
               weft_str_equal(a->begin.name, WEFT_STR("accept*")),
           "kind and name");
    tap_ok(a->begin.n_conditions == 3 && a->begin.conditions[0].integer == 16 &&
               a->begin.conditions[0].op == WEFT_OP_AT_LEAST,
           "a hexadecimal number");
    tap_ok(a->begin.conditions[1].field.word == 2 && !a->begin.conditions[1].is_number &&
               weft_str_equal(a->begin.conditions[1].text, WEFT_STR("b c")),
           "a word of a text");
    tap_ok(a->begin.conditions[2].field.kind == WEFT_FIELD_TID, "a thread by its tid");
    tap_ok(a->end.event == WEFT_EVENT_EXIT && weft_str_equal(a->end.name, WEFT_STR("*")),
           "an event without a name");
    tap_ok(a->has_match && a->match_begin.kind == WEFT_FIELD_FD &&
               a->match_end.kind == WEFT_FIELD_ARG && a->scope == WEFT_SCOPE_TRACE,
           "two fields to match");
    tap_ok(a->n_metrics == 3 && a->metrics[1].field.kind == WEFT_FIELD_MEMBER &&
               weft_str_equal(a->metrics[1].field.name, WEFT_STR("a.b")) &&
               a->metrics[2].field.kind == WEFT_FIELD_NONE,
           "metrics");
    tap_ok(r->begin.n_conditions == 1 && r->keep.n_conditions == 1 &&
               r->keep.conditions[0].integer == 1000 && r->end.event == WEFT_EVENT_SYSCALL_EXIT,
           "a whole system call");
    tap_ok(m->begin.kind == WEFT_RULE_SPAN && m->begin.n_conditions == 1, "an execution marked");
    tap_ok(q->scope == WEFT_SCOPE_TRACE && q->begin.kind == WEFT_RULE_EXIT, "a dependency");
    tap_eq_u64(weft_rules_choose(rules, "r", &err), WEFT_OK, "one type is chosen");
    tap_ok(rules->n_types == 1 && rules->types[0].end.kind, "and it alone stays");
    tap_eq_u64(weft_rules_choose(rules, "none", &err), WEFT_E_ARG, "one that is not there is not");
    weft_rules_free(rules);
}

static void options(void)
{
    static const struct {
        struct weft_rule_options options;
        const char *file, *expected; /* NULL: is taken */
    } rows[] = {
        { { .begin = "call:f" }, NULL, NULL },
        { { .begin = "enter:f", .end = "exit:f", .match = "id", .metrics = "a,b=c,counter:d" },
          NULL,
          NULL },
        { { .begin = "call:f", .end = "exit:f" }, "--begin", "no end" },
        { { .begin = "enter:f" }, "--end", "an end rule" },
        { { .begin = "enter:f g", .end = "exit:f" }, "--begin", "nothing more, found 'g'" },
        { { .begin = "mark:\xc3\xa9 \xc3\xa4\x1b" },
          "--begin",
          "column 8: expected nothing more, found '\xc3\xa4?'" },
        { { .begin = "enter:f", .end = "exit:f", .within = "x" }, "--within", "found 'x'" },
        { { .begin = "call:f", .metrics = "a,,b" }, "--metric", "a field" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct weft_rules *rules;
        struct weft_err err = { 0 };
        const enum weft_code code = weft_rules_of_options(&rows[i].options, &rules, &err);
        if (!rows[i].file)
            tap_eq_u64(code, WEFT_OK, "options %zu", i);
        else
            tap_ok(code != WEFT_OK && strcmp(err.file, rows[i].file) == 0 &&
                       strstr(err.text, rows[i].expected),
                   "options %zu: %s: %s", i, err.file, err.text);
        weft_rules_free(rules);
    }
}

/* Rule, text, rule again: what stands in quotes stays what it was. */
static void round_trip(void)
{
    static const char *const names[] = {
        "f", "ns::f(int, char)", "say \"hi\" \\ twice", "", "a#b", "#400", "Gr\xc3\xb6\xc3\x9f\x65"
    };
    struct weft_arena *arena = weft_arena_new(0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[256];
        struct weft_rules *rules = NULL;
        const struct weft_str rule = weft_rule_text(arena, "call", weft_str_of(names[i]));
        (void)snprintf(text, sizeof text, "%.*s", (int)rule.n_bytes, rule.bytes);
        const struct weft_rule_options one = { .begin = text };
        tap_ok(weft_rules_of_options(&one, &rules, NULL) == WEFT_OK &&
                   weft_str_equal(rules->types[0].begin.name, weft_str_of(names[i])),
               "'%s' as %s", names[i], text);
        weft_rules_free(rules);
    }
    weft_arena_free(arena);
}

/* ---- dependencies ---------------------------------------------------------------------------- */

/* Thread 0 does a task until 20; thread 1 takes up what it left at 50. */
static const char events[] = "0 0 enter 0 0\n10 0 enter 0 3\n20 0 exit 0 3\n95 0 exit 0 0\n"
                             "0 0 enter 1 0\n50 0 enter 1 4\n90 0 exit 1 4\n95 0 exit 1 0\n";

static void put_path(const struct weft_path_table *path, char *text, size_t n_text)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < path->n_segments; i++)
        n += (size_t)snprintf(text + n, n_text - n, "%s%" PRIu64 "-%" PRIu64 " %u %s",
                              i ? ", " : "", path->segments[i].start_ns, path->segments[i].end_ns,
                              path->segments[i].thread_id,
                              path->segments[i].state == WEFT_PATH_BLOCKED
                                  ? weft_path_reason_name(path->segments[i].reason)
                                  : "runs");
}

static enum weft_code find_path(struct weft_session *session, const char *rule_text, char *text,
                                size_t n_text, struct weft_err *err)
{
    const union weft_request request = {
        .path = { .thread_id = 1, .from_ns = 0, .to_ns = 90, .call_depth = WEFT_PATH_INNERMOST }
    };
    struct weft_rules *rules = NULL;
    union weft_result result = { 0 };
    enum weft_code code = weft_rules_parse(weft_str_of(rule_text), &rules, err);
    if (code == WEFT_OK)
        code = weft_session_depend(session, rules, NULL, err);
    if (code == WEFT_OK)
        code = weft_query_run(session, "path", &request, &result, err);
    if (code == WEFT_OK)
        put_path(result.path, text, n_text);
    weft_result_free(result.any);
    weft_rules_free(rules);
    return code;
}

static void dependencies(const char *path)
{
    static const struct text_thread threads[] = { { .tid = 1 }, { .tid = 2 } };
    static const char rule[] = "depend queue from exit:task to enter:helper";
    const struct weft_run run = { .pool = weft_pool_new(1) };
    struct weft_session *session = NULL;
    struct weft_err err = { 0 };
    char text[256] = "";
    int n_failures = 0;
    bool is_good = true;
    if (!run.pool || text_trace_write(path, threads, 2, events) != WEFT_OK ||
        weft_session_open(path, &run, &session, &err) != WEFT_OK)
        abort();
    (void)find_path(session, "", text, sizeof text, &err);
    tap_eq_str(text, "0-90 1 runs", "without a dependency the thread runs");
    for (; n_failures < 4000 && is_good; n_failures++) {
        n_until_failure = n_failures;
        const enum weft_code code = find_path(session, rule, text, sizeof text, NULL);
        const bool has_failed = n_until_failure < 0;
        n_until_failure = -1;
        is_good = has_failed ? code == WEFT_E_NOMEM || code == WEFT_OK : code == WEFT_OK;
        if (!has_failed)
            break;
    }
    tap_ok(is_good && n_failures > 10, "%d failed allocations", n_failures);
    tap_eq_str(text, "0-20 0 runs, 20-50 1 task, 50-90 1 runs",
               "with one the path goes on where the work was left");
    weft_session_close(session);
    weft_pool_free(run.pool);
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    char path[512];
    (void)snprintf(path, sizeof path, "%s/test_rules.weft", root ? root : ".");
    matches();
    refusals();
    meanings();
    options();
    round_trip();
    dependencies(path);
    (void)remove(path);
    return tap_done();
}
