/* SPDX-License-Identifier: MIT
 *
 * The recorder's side of the journal: what programs write into it, and what of it is lost. Times
 * are ms.
 */
#include "record/session/journal.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Numbers that no process of this machine has. */
enum { TARGET = 9000100, CHILD = 9000200 };

struct fixture {
    char folder[32];
    int folder_fd;
    struct journal journal;
    struct weft_journal *map; /* as a program has it */
    struct ledger *ledger;
    struct namespaces spaces;
    struct proc_text room;
};

static void start(struct fixture *it)
{
    const struct ledger_opts opts = { .has_library = true, .follows = true };
    *it = (struct fixture){ .folder = "/tmp/weft-journal-XXXXXX" };
    it->folder_fd = mkdtemp(it->folder) ? open(it->folder, O_RDONLY | O_DIRECTORY) : -1;
    journal_open(it->folder_fd, &it->journal);
    it->map = mmap(NULL, sizeof *it->map, PROT_READ | PROT_WRITE, MAP_SHARED, it->journal.fd, 0);
    it->ledger = ledger_new(&opts);
    if (it->map == MAP_FAILED || !it->ledger)
        exit(1);
    ledger_begin(it->ledger, TARGET, "", 0, false);
}

static void stop(struct fixture *it)
{
    (void)munmap(it->map, sizeof *it->map);
    journal_close(&it->journal);
    ledger_free(it->ledger);
    namespaces_fini(&it->spaces);
    proc_text_fini(&it->room);
    (void)unlinkat(it->folder_fd, WEFT_JOURNAL_NAME, 0);
    (void)close(it->folder_fd);
    (void)rmdir(it->folder);
}

static uint64_t claim(struct fixture *it)
{
    return atomic_fetch_add(&it->map->head, 1);
}

static void write_entry(struct fixture *it, uint64_t number)
{
    struct weft_journal_entry *entry = &it->map->entries[number % WEFT_JOURNAL_ENTRIES];
    entry->kind = WEFT_JOURNAL_FORK;
    entry->pid = CHILD + (uint32_t)(number % (1 << 20));
    entry->parent = TARGET;
    atomic_store(&entry->number, number + 1);
}

static uint64_t ns_of_none(const void *context, uint64_t ticks)
{
    (void)context;
    (void)ticks;
    return 1;
}

static void poll_at(struct fixture *it, unsigned at, bool is_final)
{
    const struct journal_reader reader = { .ledger = it->ledger,
                                           .ns_of = ns_of_none,
                                           .spaces = &it->spaces,
                                           .room = &it->room,
                                           .is_final = is_final };
    journal_poll(&it->journal, &reader, at * UINT64_C(1000000));
}

static uint64_t n_children(struct fixture *it)
{
    uint64_t n_further;
    ledger_advance(it->ledger, 1000);
    return ledger_totals(it->ledger, &n_further).n_processes - 1;
}

static void test_skipped(void)
{
    struct fixture it;
    start(&it);
    (void)claim(&it); /* 0 and 2 by programs that were killed */
    write_entry(&it, claim(&it));
    (void)claim(&it);
    write_entry(&it, claim(&it));
    atomic_store(&it.map->lost, 5); /* found no room */
    poll_at(&it, 1000, false);
    tap_eq_u64(it.journal.n_read, 0, "an entry that is not written yet is waited for");
    poll_at(&it, 1050, false);
    write_entry(&it, claim(&it));
    (void)claim(&it); /* 5: claimed since */
    poll_at(&it, 1200, false);
    tap_eq_u64(it.journal.n_read, 5, "not for ever, nor for those behind it that are as old");
    tap_eq_u64(n_children(&it), 3, "those that were written are taken");
    tap_eq_u64(journal_lost(&it.journal), 7, "entries without room, and those that were skipped");
    poll_at(&it, 1210, false);
    poll_at(&it, 1220, false);
    tap_eq_u64(journal_lost(&it.journal), 7, "none of them is forgotten, or counted again");
    write_entry(&it, 5);
    poll_at(&it, 1230, false);
    tap_eq_u64(n_children(&it), 4, "one that was claimed later has its own time");
    atomic_store(&it.map->lost, 2);
    poll_at(&it, 1240, false);
    tap_eq_u64(journal_lost(&it.journal), 7, "a program's count that goes back is not believed");
    stop(&it);
}

static void test_end(void)
{
    struct fixture it;
    start(&it);
    (void)claim(&it);
    write_entry(&it, claim(&it));
    poll_at(&it, 1000, true);
    tap_eq_u64(n_children(&it), 1, "at the end nothing is waited for");
    tap_eq_u64(journal_lost(&it.journal), 1, "what was not written then is lost");
    stop(&it);
}

static void test_gap(void)
{
    const uint64_t n_all = 5 * (uint64_t)WEFT_JOURNAL_ENTRIES;
    struct fixture it;
    start(&it);
    write_entry(&it, claim(&it));
    poll_at(&it, 1000, false);
    atomic_store(&it.map->head, n_all);
    for (uint64_t k = n_all - 10; k < n_all; k++)
        write_entry(&it, k);
    poll_at(&it, 1050, false);
    poll_at(&it, 1200, false);
    tap_eq_u64(n_children(&it), 11, "entries behind a gap are taken");
    tap_eq_u64(journal_lost(&it.journal), n_all - 11, "those in it are lost");
    write_entry(&it, claim(&it));
    poll_at(&it, 1210, false);
    tap_eq_u64(n_children(&it), 12, "and it goes on");
    tap_eq_u64(it.map->tail, n_all + 1, "programs have room again");
    stop(&it);
}

static void test_overrun(void)
{
    struct fixture it;
    start(&it);
    for (unsigned k = 0; k < WEFT_JOURNAL_ENTRIES + 3; k++)
        write_entry(&it, claim(&it)); /* 3 threads that found room at the same time */
    poll_at(&it, 1000, false);
    tap_eq_u64(n_children(&it), WEFT_JOURNAL_ENTRIES, "entries that were written over");
    tap_eq_u64(journal_lost(&it.journal), 3, "are lost, at once");
    stop(&it);
}

static void test_damage(void)
{
    struct fixture it;
    start(&it);
    write_entry(&it, claim(&it));
    poll_at(&it, 1000, false);
    atomic_store(&it.map->head, 0);
    poll_at(&it, 1050, false);
    poll_at(&it, 1060, false);
    tap_eq_u64(journal_lost(&it.journal), 1, "a head that goes back is said");
    stop(&it);

    start(&it);
    for (int k = 0; k < 10; k++)
        write_entry(&it, claim(&it));
    (void)!ftruncate(it.journal.fd, sizeof *it.map - sizeof it.map->entries);
    poll_at(&it, 1000, false);
    tap_eq_u64(journal_lost(&it.journal), 10, "so are entries that were cut away");
    (void)!ftruncate(it.journal.fd, 0);
    poll_at(&it, 1050, false);
    tap_eq_u64(journal_lost(&it.journal), 11, "and a journal that is empty");
    stop(&it);

    start(&it);
    atomic_store(&it.map->head, UINT64_MAX);
    atomic_store(&it.map->lost, UINT64_MAX);
    poll_at(&it, 1000, false);
    poll_at(&it, 1200, false);
    tap_eq_u64(journal_lost(&it.journal), UINT64_MAX, "counts do not wrap");
    stop(&it);
}

int main(void)
{
    test_skipped();
    test_end();
    test_gap();
    test_overrun();
    test_damage();
    return tap_done();
}
