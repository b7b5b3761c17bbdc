/* SPDX-License-Identifier: MIT
 *
 * A program to be recorded: executions that it marks, each of which reads and writes amounts that
 * are known. Job n, n = 1 ... JOBS: writes 1000 n bytes at once, reads them in pieces of 700 at
 * most, sends 10 n and receives them, and asks in vain for more. Between jobs it writes and reads
 * what belongs to none. usage: transfers
 */
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
#include <weft/mark.h>

enum { JOBS = 5, WRITTEN = 1000, SENT = 10, PIECE = 700, BETWEEN = 333 };

static char bytes[JOBS * WRITTEN];
static int ends[2];  /* of a pipe */
static int peers[2]; /* sockets */

/* False if any of it went wrong. */
static int transfer(size_t n)
{
    size_t n_read = 0;
    if (write(ends[1], bytes, n * WRITTEN) != (ssize_t)(n * WRITTEN))
        return 0;
    while (n_read < n * WRITTEN) {
        const ssize_t got = read(ends[0], bytes, PIECE);
        if (got <= 0)
            return 0;
        n_read += (size_t)got;
    }
    return send(peers[0], bytes, n * SENT, 0) == (ssize_t)(n * SENT) &&
           recv(peers[1], bytes, PIECE, 0) == (ssize_t)(n * SENT) &&
           recv(peers[1], bytes, PIECE, MSG_DONTWAIT) < 0 && read(-1, bytes, PIECE) < 0;
}

int main(void)
{
    int is_ok = pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, peers) == 0;
    for (size_t n = 1; is_ok && n <= JOBS; n++) {
        weft_mark_begin("job", n);
        is_ok = transfer(n);
        weft_mark_end("job", n);
        is_ok = is_ok && write(ends[1], bytes, BETWEEN) == BETWEEN &&
                read(ends[0], bytes, BETWEEN) == BETWEEN;
    }
    return is_ok ? 0 : 1;
}
