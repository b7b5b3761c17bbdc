/* SPDX-License-Identifier: MIT
 *
 * weft serve: starts src/serve, prints its address, optionally opens a browser, and waits for
 * Ctrl-C.
 */
#include "cli/cli.h"
#include "serve/serve.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct options {
    const char *colors;
    uint64_t port;
    bool open;
};

static const struct weft_option options[] = {
    { 'p', "port", "N", "the port to listen on (default: any, and the same again next time)",
      WEFT_OPTION_COUNT, offsetof(struct options, port), NULL },
    { 0, "open", NULL, "open the page in the browser", WEFT_OPTION_FLAG,
      offsetof(struct options, open), NULL },
    { 0, "colors", "FILE", "colours of functions: a JSON object, or lines of NAME #RRGGBB",
      WEFT_OPTION_FILE, offsetof(struct options, colors), NULL },
};

enum { TRACES_MAX = 64 };

/* The desktop's way to a browser. Its failure is said, and is not ours. */
static void open_browser(const char *address)
{
    char program[] = "xdg-open";
    char *argv[] = { program, strdup(address), NULL };
    pid_t pid;
    int status = 0;
    bool is_open = argv[1] && posix_spawnp(&pid, program, NULL, NULL, argv, environ) == 0 &&
                   waitpid(pid, &status, 0) == pid && status == 0;
    if (!is_open)
        weft_say("weft: serve: no browser could be opened (xdg-open): open the address "
                 "above\n");
    free(argv[1]);
}

static enum weft_code announce(struct weft_cli *cli, const struct options *opts,
                               const struct weft_server *server)
{
    for (size_t i = 0; i < cli->n_inputs && !cli->common.quiet; i++)
        if (weft_server_recovered(server, i))
            weft_say(WEFT_ENDS_EARLY, weft_server_recovered(server, i));
    printf("%s\n", weft_server_address(server));
    if (fflush(stdout) != 0)
        return weft_fail_errno(&cli->err, errno, "cannot write to standard output");
    if (!cli->common.quiet)
        weft_say("weft: serving on the loopback interface, to holders of this address; Ctrl-C "
                 "ends it\n");
    if (opts->open)
        open_browser(weft_server_address(server));
    return WEFT_OK;
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { 0 };
    struct weft_server *server = NULL;
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (opts.port > UINT16_MAX)
        return weft_cli_usage(cli, "--port: expected a number from 1 to 65535 (0: any)");
    enum weft_code code = weft_cli_begin(cli);
    weft_cli_quiet_line(cli);
    const struct weft_serve_opts serve = {
        .paths = cli->inputs,
        .n_paths = cli->n_inputs,
        .port = (uint16_t)opts.port,
        .state_folder = getenv("XDG_RUNTIME_DIR"),
        .colors_path = opts.colors,
        .run = &cli->run,
    };
    WEFT_THEN(code, weft_server_open(&serve, &server, &cli->err));
    WEFT_THEN(code, announce(cli, &opts, server));
    if (code == WEFT_OK)
        weft_server_wait(server, cli->progress);
    weft_server_close(server);
    return weft_cli_end(cli, code);
}

const struct weft_command weft_cmd_serve = {
    .name = "serve",
    .summary = "show traces in the browser",
    .arguments = "TRACE...",
    .about =
        "Prints an address that only this machine can reach, and only with its token. The page "
        "asks\n"
        "this server for its data; nothing leaves the machine. Ends with Ctrl-C. Databases of\n"
        "executions may be given with traces or alone.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_WORK | WEFT_COMMON_TALK,
    .n_inputs_min = 1,
    .n_inputs_max = TRACES_MAX,
    .run = run,
};
