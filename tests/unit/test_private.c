/* SPDX-License-Identifier: MIT
 *
 * Texts without absolute paths: what is one, what it becomes, and that nothing of one is left.
 */
#include "base/private.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

struct row {
    const char *text, *want;
};

/* /data is the folder of a module. */
static const struct row rows[] = {
    { "", "" },
    { "/usr/lib/libc.so.6", "libc.so.6" },
    { "/home/joe/src/main.c:12", "main.c:12" },
    { "/home/joe", "~" },
    { "/home/joe/", "~" },
    { "at /home/joe, in /Users/ann/x", "at ~, in x" },
    { "file=/data/a/b", "file=b" },
    { "/unknown/a/b", "/unknown/a/b" },
    { "/unknown/a/b.log", "b.log" },
    { "GET /api/v1.0/users", "GET /api/v1.0/users" },
    { "open(\"/etc/passwd\", O_RDONLY)", "open(\"passwd\", O_RDONLY)" },
    { "{\"path\":\"/var/lib/x\",\"n\":1}", "{\"path\":\"x\",\"n\":1}" },
    { "kworker/0:1", "kworker/0:1" },
    { "migration/1 and/or usr/lib", "migration/1 and/or usr/lib" },
    { "a/usr/lib/x", "a/usr/lib/x" },
    { "/", "/" },
    { "//", "//" },
    { "/tmp", "/tmp" },
    { "/tmp/", "tmp" },
    { "///usr///lib///x", "x" },
    { "operator/(int)", "operator/(int)" },
    { "std::filesystem::path(/opt/a/b)", "std::filesystem::path(b)" },
    { "[/usr/lib/x.so+0x12]", "[x.so+0x12]" },
};

static void test_rows(const struct weft_private *rules, struct weft_arena *arena)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct weft_str text = weft_str_of(rows[k].text), want = weft_str_of(rows[k].want);
        const struct weft_str got = weft_private_text(rules, arena, text);
        tap_ok(weft_str_equal(got, want), "'%s' is '%s': '%.*s'", rows[k].text, rows[k].want,
               (int)got.n_bytes, got.bytes);
        tap_ok(weft_private_has_path(rules, text) == !weft_str_equal(text, want) || !text.n_bytes,
               "which is told beforehand");
    }
}

static void test_users(void)
{
    static const struct row users[] = { { "/home/joe/x", "joe" }, { "/Users/ann", "ann" },
                                        { "/home", "" },          { "/homes/joe", "" },
                                        { "home/joe", "" },       { "", "" } };
    for (size_t k = 0; k < sizeof users / sizeof *users; k++) {
        const struct weft_str user = weft_private_user(weft_str_of(users[k].text));
        tap_ok(weft_str_equal(user, weft_str_of(users[k].want)), "the user of '%s'", users[k].text);
    }
    tap_ok(weft_str_equal(weft_str_base(weft_str_of("/a/b")), WEFT_STR("b")) &&
               weft_str_equal(weft_str_base(weft_str_of("b")), WEFT_STR("b")) &&
               weft_str_base((struct weft_str){ 0 }).n_bytes == 0,
           "base names");
}

/* Texts of any bytes, in blocks of their own, so that a sanitizer sees what is read beside them. */
static void test_random(const struct weft_private *rules, struct weft_arena *arena)
{
    enum { N_RANDOM = 20000, TEXT_BYTES = 40 };
    static const char letters[] = "//// home.usr\"':=~x\0\xc3";
    uint64_t state = tap_seed(815);
    size_t n_longer = 0, n_again = 0;
    for (int i = 0; i < N_RANDOM; i++) {
        const size_t n = tap_random(&state) % TEXT_BYTES;
        char *bytes = malloc(n + (n == 0));
        for (size_t k = 0; bytes && k < n; k++)
            bytes[k] = letters[tap_random(&state) % (sizeof letters - 1)];
        const struct weft_str text = { bytes, n };
        const struct weft_str got = weft_private_text(rules, arena, text);
        n_longer += got.n_bytes > n;
        n_again += got.n_bytes == n && weft_private_has_path(rules, text) &&
                   memcmp(got.bytes, bytes, n) == 0;
        weft_arena_reset(arena);
        free(bytes);
    }
    tap_eq_u64(n_longer, 0, "%d random texts: none becomes longer", N_RANDOM);
    tap_eq_u64(n_again, 0, "and none with a path stays as it is");
}

int main(void)
{
    struct weft_private *rules = weft_private_new();
    struct weft_arena *arena = weft_arena_new(0);
    if (!rules || !arena)
        return 1;
    tap_ok(weft_private_add(rules, weft_str_of("/data/project/libx.so")) &&
               weft_private_add(rules, weft_str_of("/data/again")) &&
               weft_private_add(rules, weft_str_of("relative")) &&
               weft_private_add(rules, (struct weft_str){ 0 }),
           "a folder of modules");
    test_rows(rules, arena);
    test_users();
    test_random(rules, arena);
    weft_arena_free(arena);
    weft_private_free(rules);
    return tap_done();
}
