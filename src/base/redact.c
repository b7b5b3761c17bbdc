/* SPDX-License-Identifier: MIT
 *
 * A heuristic over words and names: which options and variables hold a secret, where its value
 * starts and ends. It works on one argument at a time, with a little state between them (an option
 * whose value is the next argument). The recorder calls it before a command line is stored, so no
 * secret reaches the recording.
 */
#include "base/redact.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 96, TOKEN_BYTES = 16, NUMBER_BYTES = 12 };

static const char hidden[] = "***";

static void put(FILE *out, const char *bytes, size_t n_bytes)
{
    if (n_bytes)
        (void)fwrite(bytes, 1, n_bytes, out);
}

static struct weft_str after(struct weft_str text, size_t n_bytes)
{
    return (struct weft_str){ text.bytes + n_bytes, text.n_bytes - n_bytes };
}

static struct weft_str front(struct weft_str text, size_t n_bytes)
{
    return (struct weft_str){ text.bytes, n_bytes < text.n_bytes ? n_bytes : text.n_bytes };
}

static bool is_in(const char *set, char c)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* How many bytes come before the first that is in the set. */
static size_t span_to(struct weft_str text, const char *set)
{
    size_t n = 0;
    while (n < text.n_bytes && !is_in(set, text.bytes[n]))
        n++;
    return n;
}

static bool is_one_of(struct weft_str text, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == text.n_bytes && strncasecmp(*words, text.bytes, text.n_bytes) == 0)
            return true;
    return false;
}

/* ---- names -------------------------------------------------------------------------------------
 */

enum secrecy { NO_SECRET, WEAK_SECRET, SECRET };

/* "dbPassword", "DB_PASSWORD" and "--db-password" become "db password". */
static void split_words(struct weft_str name, char words[NAME_BYTES])
{
    size_t n = 0;
    bool was_small = false;
    for (size_t k = 0; k < name.n_bytes && n + 2 < NAME_BYTES; k++) {
        const unsigned char c = (unsigned char)name.bytes[k];
        const bool is_letter = isalnum(c) != 0;
        if (is_letter && isupper(c) && was_small)
            words[n++] = ' ';
        if (is_letter || (n > 0 && words[n - 1] != ' '))
            words[n++] = (char)(is_letter ? tolower(c) : ' ');
        was_small = islower(c) != 0;
    }
    words[n] = '\0';
}

static enum secrecy secrecy_of(struct weft_str name)
{
    /* In any word, as in "mypassword"; as a word; as a word whose value is none if it is a number.
     */
    static const char *const anywhere[] = { "passw", "passphrase", "secret", "credential", NULL };
    static const char *const whole[] = { "pass",   "pwd",           "pw",  "pin", "otp",
                                         "cookie", "bearer",        "psk", "jwt", "cred",
                                         "creds",  "authorization", NULL };
    static const char *const weak[] = { "key",  "keys",       "apikey", "accesskey", "secretkey",
                                        "auth", "token",      "tokens", "authtoken", "signature",
                                        "sig",  "privatekey", NULL };
    char words[NAME_BYTES];
    enum secrecy secrecy = NO_SECRET;
    split_words(name, words);
    for (size_t k = 0; anywhere[k]; k++)
        if (strstr(words, anywhere[k]))
            return SECRET;
    for (char *rest = words, *word; (word = strsep(&rest, " "));) {
        if (is_one_of(weft_str_of(word), whole))
            return SECRET;
        if (is_one_of(weft_str_of(word), weak))
            secrecy = WEAK_SECRET;
    }
    return secrecy;
}

/* ---- values ------------------------------------------------------------------------------------
 */

/* "80", "8080:80", "0.5", "16M", "10.0.0.1:80" */
static bool is_number(struct weft_str text)
{
    size_t n_digits = 0;
    for (size_t k = 0; k < text.n_bytes; k++) {
        n_digits += isdigit((unsigned char)text.bytes[k]) != 0;
        const bool is_unit = k > 0 && k + 1 == text.n_bytes && is_in("kKmMgG", text.bytes[k]);
        if (!isdigit((unsigned char)text.bytes[k]) && !is_in(".,:-", text.bytes[k]) && !is_unit)
            return false;
    }
    return n_digits > 0;
}

static bool is_weak_value(struct weft_str text)
{
    static const char *const words[] = { "true", "false", "yes", "no", "on", "off", "none", NULL };
    return text.n_bytes == 0 || (text.n_bytes <= NUMBER_BYTES && is_number(text)) ||
           is_one_of(text, words);
}

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Tokens that are recognised by their first letters. */
static bool is_token(struct weft_str text)
{
    static const char *const fronts[] = { "ghp_",  "gho_",  "ghs_", "github_pat_", "glpat-",
                                          "xoxb-", "xoxp-", "sk-",  "AKIA",        "ASIA",
                                          "eyJ",   "AIza",  "npm_", "hf_",         NULL };
    for (size_t k = 0; fronts[k]; k++) {
        const size_t n = strlen(fronts[k]);
        if (text.n_bytes >= n + TOKEN_BYTES && strncmp(text.bytes, fronts[k], n) == 0 &&
            !memchr(text.bytes, '/', text.n_bytes))
            return true;
    }
    return false;
}

/* Where the name that ends at `end` begins. */
static size_t name_begin(struct weft_str text, size_t end)
{
    size_t begin = end;
    while (begin > 0 && is_name_byte(text.bytes[begin - 1]))
        begin--;
    return begin;
}

/* The bytes of a value that is one of several: up to what separates it from the next. */
static size_t value_bytes(struct weft_str text, bool is_quoted)
{
    return span_to(text, is_quoted ? "\"'" : "&;,\"'})");
}

/* The user information of a URL, and of USER:PASSWORD@HOST: how many bytes from the start of `text`
 * on, without the '@'; 0: there is none. */
static size_t user_bytes(struct weft_str text, bool is_url)
{
    const size_t n = span_to(text, "/?#\"' @"), colon = span_to(text, ":");
    const bool has_at = n < text.n_bytes && text.bytes[n] == '@';
    return has_at && (is_url || (colon > 0 && colon + 1 < n)) ? n : 0;
}

/* NAME=VALUE, NAME: VALUE and "NAME":"VALUE" at a separator `at`. How many bytes of what follows
 * are hidden; `*n_kept`: bytes between the separator and them. */
static size_t hidden_value(struct weft_str text, size_t at, bool is_first, size_t *n_kept)
{
    size_t end = at;
    *n_kept = 1;
    if (end > 0 && is_in("\"'", text.bytes[end - 1]))
        end--;
    const size_t begin = name_begin(text, end);
    const enum secrecy secrecy = secrecy_of((struct weft_str){ text.bytes + begin, end - begin });
    struct weft_str value = after(text, at + 1);
    if (secrecy == NO_SECRET)
        return 0;
    while (value.n_bytes && is_in(" \"'", *value.bytes)) {
        value = after(value, 1);
        (*n_kept)++;
    }
    const bool is_whole = is_first && begin == 0 && *n_kept == 1 && text.bytes[at] == '=';
    const bool is_quoted = *n_kept > 1;
    const size_t n = is_whole ? value.n_bytes : value_bytes(value, is_quoted);
    return secrecy == WEAK_SECRET && is_weak_value(front(value, n)) ? 0 : n;
}

/* A word without white space, unless it is a value as a whole. */
static void put_word(struct weft_str text, FILE *out)
{
    size_t kept = 0, at = 0, n_seen = 0;
    if (is_token(text)) {
        fputs(hidden, out);
        return;
    }
    const size_t n_user = user_bytes(text, false);
    if (n_user > 0 && !memchr(text.bytes, '=', n_user)) {
        fputs(hidden, out);
        kept = at = n_user;
    }
    while (at < text.n_bytes) {
        size_t n_hidden = 0, n_skipped = 1;
        const bool is_scheme = at + 2 < text.n_bytes && strncmp(text.bytes + at, "://", 3) == 0;
        if (is_scheme) {
            n_skipped = 3;
            n_hidden = user_bytes(after(text, at + 3), true);
        } else if (text.bytes[at] == '=' || text.bytes[at] == ':') {
            n_hidden = hidden_value(text, at, n_seen++ == 0, &n_skipped);
        }
        if (n_hidden > 0) {
            put(out, text.bytes + kept, at + n_skipped - kept);
            fputs(hidden, out);
            kept = at + n_skipped + n_hidden;
        }
        at += n_hidden > 0 ? n_skipped + n_hidden : is_scheme ? 3 : 1;
    }
    put(out, text.bytes + kept, text.n_bytes - kept);
}

/* ---- options -----------------------------------------------------------------------------------
 */

/* Options that begin with -p and take no password behind it. */
static const char *const no_passwords[] = {
    "pthread",  "pipe",     "pg",      "pedantic", "pie",      "print",    "print0",
    "printf",   "path",     "prune",   "perm",     "preload",  "profile",  "port",
    "pid",      "program",  "prefix",  "plugin",   "proxy",    "page",     "pages",
    "parallel", "pattern",  "pretty",  "process",  "progress", "protocol", "params",
    "project",  "property", "publish", "python",   NULL
};

/* Programs whose -p is a flag, or names something else. */
static const char *const other_p[] = { "cp",     "mkdir",   "rmdir",   "tar",  "rsync", "install",
                                       "ls",     "patch",   "perl",    "ps",   "ssh",   "scp",
                                       "read",   "netstat", "gcc",     "cc",   "g++",   "c++",
                                       "clang",  "find",    "command", "make", "perf",  "strace",
                                       "docker", NULL };

/* -pPASSWORD, or -p in front of one. True if it was written. */
static bool put_p(struct weft_redact *redact, struct weft_str word, FILE *out)
{
    if (word.n_bytes < 2 || word.bytes[0] != '-' ||
        (word.bytes[1] != 'p' && word.bytes[1] != 'P') || redact->keeps_p)
        return false;
    const struct weft_str value = after(word, 2);
    if (value.n_bytes == 0) {
        redact->hides_next = redact->is_weak = true;
        return false;
    }
    const struct weft_str name = front(after(word, 1), span_to(after(word, 1), "="));
    if (is_number(value) || memchr(value.bytes, '=', value.n_bytes) ||
        memchr(value.bytes, '/', value.n_bytes) || is_one_of(name, no_passwords) ||
        strncasecmp(name.bytes, "pass", name.n_bytes < 4 ? name.n_bytes : 4) == 0)
        return false;
    put(out, word.bytes, 2);
    fputs(hidden, out);
    return true;
}

/* What an option without a value says of the next argument. */
static void look_ahead(struct weft_redact *redact, struct weft_str word)
{
    static const char *const users[] = { "-u", "--user", "--proxy-user", "-U", NULL };
    const bool is_option =
        word.n_bytes > 1 && word.bytes[0] == '-' && span_to(word, "=") == word.n_bytes;
    /* As in "password: x" and "password = x". */
    const bool is_open = word.n_bytes > 1 && is_in(":=", word.bytes[word.n_bytes - 1]);
    const enum secrecy secrecy = is_option || is_open ? secrecy_of(word) : NO_SECRET;
    redact->hides_next |= secrecy != NO_SECRET;
    redact->is_weak |= secrecy == WEAK_SECRET;
    redact->takes_user = is_one_of(word, users);
}

/* The value of an option that takes a secret. True if it was written. */
static bool put_value(struct weft_redact *redact, struct weft_str word, FILE *out)
{
    static const char *const schemes[] = { "Bearer", "Basic", "Token", NULL };
    const struct weft_redact before = *redact;
    redact->hides_next = redact->is_weak = redact->takes_user = false;
    const bool is_option = word.n_bytes > 1 && word.bytes[0] == '-';
    const char *colon = word.n_bytes ? memchr(word.bytes, ':', word.n_bytes) : NULL;
    if (before.takes_user && colon && !is_option && !memchr(word.bytes, '/', word.n_bytes)) {
        put(out, word.bytes, (size_t)(colon + 1 - word.bytes));
        fputs(hidden, out);
        return true;
    }
    if (!before.hides_next || is_option || (before.is_weak && is_weak_value(word)))
        return false;
    redact->hides_next = is_one_of(word, schemes); /* what follows is the secret */
    fputs(hidden, out);
    return true;
}

static void put_program(struct weft_redact *redact, struct weft_str word, FILE *out)
{
    redact->has_program = true;
    redact->keeps_p = is_one_of(weft_str_base(word), other_p);
    put(out, word.bytes, word.n_bytes);
}

static void put_one(struct weft_redact *redact, struct weft_str word, FILE *out)
{
    if (put_value(redact, word, out) || put_p(redact, word, out))
        return;
    look_ahead(redact, word);
    put_word(word, out);
}

/* "Authorization: Bearer x" */
static bool put_header(struct weft_str argument, FILE *out)
{
    const char *colon = argument.n_bytes ? memchr(argument.bytes, ':', argument.n_bytes) : NULL;
    const size_t n_name = colon ? (size_t)(colon - argument.bytes) : 0;
    if (n_name == 0 || n_name + 1 >= argument.n_bytes || colon[1] != ' ' ||
        name_begin(argument, n_name) != 0 || secrecy_of(front(argument, n_name)) == NO_SECRET)
        return false;
    put(out, argument.bytes, n_name + 2);
    fputs(hidden, out);
    return true;
}

/* A command line in an argument, as of sh -c; the words of anything else. */
static void put_words(struct weft_str argument, bool has_program, FILE *out)
{
    static const char *const ends[] = { ";", "&&", "||", "|", "&", "exec", "env", "sudo", NULL };
    struct weft_redact inner = { .has_program = has_program };
    while (argument.n_bytes > 0) {
        const struct weft_str word = front(argument, span_to(argument, " \t\n"));
        if (word.n_bytes > 0 && !inner.has_program && span_to(word, "=:\"'") == word.n_bytes)
            put_program(&inner, word, out);
        else if (word.n_bytes > 0)
            put_one(&inner, word, out);
        if (is_one_of(word, ends) || (word.n_bytes && word.bytes[word.n_bytes - 1] == ';'))
            inner = (struct weft_redact){ .has_program = false };
        argument = after(argument, word.n_bytes);
        if (argument.n_bytes > 0) {
            fputc(*argument.bytes, out);
            argument = after(argument, 1);
        }
    }
}

void weft_redact_argument(struct weft_redact *redact, struct weft_str argument, FILE *out)
{
    const size_t n_name = span_to(argument, "=");
    const bool has_name = n_name < argument.n_bytes && name_begin(argument, n_name) == 0;
    if (!redact->has_program)
        put_program(redact, argument, out);
    else if (span_to(argument, " \t\n") == argument.n_bytes || redact->hides_next ||
             (argument.n_bytes && is_in("{[", argument.bytes[0])) ||
             (has_name && secrecy_of(front(argument, n_name)) != NO_SECRET))
        put_one(redact, argument, out);
    else if (!put_header(argument, out))
        put_words(argument, has_name, out);
}
