/* SPDX-License-Identifier: MIT
 *
 * Secrets in command lines: what is hidden, what stays, and that no bytes upset it.
 */
#include "base/redact.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 8 };

struct row {
    const char *arguments[ARGUMENTS_MAX];
    const char *want; /* joined by a bar */
};

static const struct row rows[] = {
    { { "/opt/app", "--password=hunter2" }, "/opt/app|--password=***" },
    { { "app", "--password", "hunter2", "x" }, "app|--password|***|x" },
    { { "app", "--password", "--user", "joe" }, "app|--password|--user|joe" },
    { { "app", "--db-passwd=a b c" }, "app|--db-passwd=***" },
    { { "app", "-password", "x" }, "app|-password|***" },
    { { "app", "--passphrase=1234" }, "app|--passphrase=***" },
    { { "app", "--api-key=abcdef", "--apiKey", "x1" }, "app|--api-key=***|--apiKey|***" },
    { { "app", "--token", "abc", "--max-tokens=4096" }, "app|--token|***|--max-tokens=4096" },
    { { "app", "--key-size=100", "--keys", "1000" }, "app|--key-size=100|--keys|1000" },
    { { "app", "--keepalive=x", "--monkey=x", "--author=joe" },
      "app|--keepalive=x|--monkey=x|--author=joe" },
    { { "app", "--client_secret=x", "--credentials", "y" },
      "app|--client_secret=***|--credentials|***" },
    { { "env", "PGPASSWORD=x", "psql", "-h", "db" }, "env|PGPASSWORD=***|psql|-h|db" },
    { { "env", "AWS_SECRET_ACCESS_KEY=abc/def+x", "AWS_REGION=eu" },
      "env|AWS_SECRET_ACCESS_KEY=***|AWS_REGION=eu" },
    { { "/usr/bin/mysql", "-u", "root", "-psecret", "db" }, "/usr/bin/mysql|-u|root|-p***|db" },
    { { "sshpass", "-p", "hunter2", "ssh", "host" }, "sshpass|-p|***|ssh|host" },
    { { "server", "-p", "80" }, "server|-p|80" },
    { { "server", "-p8080", "-p", "8080:80" }, "server|-p8080|-p|8080:80" },
    { { "server", "-pthread", "-port=80", "-p/var/x" }, "server|-pthread|-port=80|-p/var/x" },
    { { "mkdir", "-p", "folder" }, "mkdir|-p|folder" },
    { { "curl", "-u", "joe:pw", "http://h/" }, "curl|-u|joe:***|http://h/" },
    { { "curl", "-u", "joe", "http://h/" }, "curl|-u|joe|http://h/" },
    { { "curl", "-H", "Authorization: Bearer abc" }, "curl|-H|Authorization: ***" },
    { { "curl", "-H", "X-Api-Key: abc" }, "curl|-H|X-Api-Key: ***" },
    { { "curl", "-H", "Accept: text/html" }, "curl|-H|Accept: text/html" },
    { { "app", "https://joe:pw@host/x" }, "app|https://***@host/x" },
    { { "app", "--db=postgres://joe:p%40w@db:5432/x?sslmode=off" },
      "app|--db=postgres://***@db:5432/x?sslmode=off" },
    { { "git", "clone", "https://ghp_0123456789abcdef0123@github.com/a/b" },
      "git|clone|https://***@github.com/a/b" },
    { { "app", "http://h/x?user=1&token=abc&n=2" }, "app|http://h/x?user=1&token=***&n=2" },
    { { "app", "joe:pw@tcp(db)/x" }, "app|***@tcp(db)/x" },
    { { "git", "clone", "git@github.com:a/b.git" }, "git|clone|git@github.com:a/b.git" },
    { { "app", "host=db password=x dbname=z" }, "app|host=db password=*** dbname=z" },
    { { "app", "Server=db;Password=x;Timeout=5" }, "app|Server=db;Password=***;Timeout=5" },
    { { "app", "{\"user\":\"joe\",\"password\":\"x y\"}" },
      "app|{\"user\":\"joe\",\"password\":\"***\"}" },
    { { "mysql", "-ppassword" }, "mysql|-p***" },
    { { "sh", "-c", "mysql -psecret db; ls -p x" }, "sh|-c|mysql -p*** db; ls -p x" },
    { { "sh", "-c", "PGPASSWORD=x psql -h db" }, "sh|-c|PGPASSWORD=***" },
    { { "sh", "-c", "curl -H 'Authorization: Bearer abc' h" },
      "sh|-c|curl -H 'Authorization: *** *** h" },
    { { "app", "ghp_0123456789abcdef0123" }, "app|***" },
    { { "app", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIi.SflKxw" }, "app|***" },
    { { "app", "--auth=basic" }, "app|--auth=***" },
    { { "app", "--use-auth", "true" }, "app|--use-auth|true" },
    { { "app", "a=b", "key", "x", "pass" }, "app|a=b|key|x|pass" },
    { { "dd", "if=/dev/zero", "of=/dev/null", "bs=4k" }, "dd|if=/dev/zero|of=/dev/null|bs=4k" },
    { { "app", "" }, "app|" },
};

static char *redacted(const char *const *arguments, char separator)
{
    char *text = NULL;
    size_t n_text = 0;
    FILE *out = open_memstream(&text, &n_text);
    struct weft_redact redact = { 0 };
    if (!out)
        return NULL;
    for (size_t k = 0; k < ARGUMENTS_MAX && arguments[k]; k++) {
        if (k)
            fputc(separator, out);
        weft_redact_argument(&redact, weft_str_of(arguments[k]), out);
    }
    (void)fclose(out);
    return text;
}

/* A secret never comes out again whatever stands before it, if an option says so. */
static void test_random(void)
{
    enum { N_RANDOM = 20000, TEXT_BYTES = 24 };
    static const char letters[] = "-=:/@ p\"';&?.abPASSWORDkey0";
    uint64_t state = tap_seed(4711);
    size_t n_leaked = 0;
    for (int i = 0; i < N_RANDOM; i++) {
        char before[TEXT_BYTES + 1] = "";
        const size_t n = tap_random(&state) % TEXT_BYTES;
        for (size_t k = 0; k < n; k++)
            before[k] = letters[tap_random(&state) % (sizeof letters - 1)];
        before[n] = '\0';
        const char *const arguments[ARGUMENTS_MAX] = { "app", before, "--password=XYZZY" };
        char *text = redacted(arguments, ' ');
        n_leaked += !text || strstr(text, "XYZZY") != NULL;
        free(text);
    }
    tap_eq_u64(n_leaked, 0, "%d random arguments: the secret behind them is hidden", N_RANDOM);
}

int main(void)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char *text = redacted(rows[k].arguments, '|');
        tap_ok(text && strcmp(text, rows[k].want) == 0, "%s: %s", rows[k].want, text ? text : "");
        free(text);
    }
    test_random();
    return tap_done();
}
