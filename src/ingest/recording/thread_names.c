/* SPDX-License-Identifier: MIT
 *
 * Names of threads that have none of their own: they carry their process's name, as the kernel
 * copies it to each thread that is made. Such a thread is called after its start function
 * (starts.h), if that is certain. What the program names keeps its name.
 */
#include "ingest/recording/convert.h"

#include <stdlib.h>

enum { COMM_BYTES = 15 };

/* Names of start routines, as the library of weft recorded them. */
static enum weft_code take_routines(struct rec_convert *convert)
{
    const struct rec_spaces *spaces = &convert->spaces;
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < convert->begins.n; k++) {
        const struct rec_begin *begin = &convert->begins.items[k];
        const struct rec_process *process = rec_process_of(spaces, begin->pid);
        const uint32_t exe = process ? process->exe : UINT32_MAX;
        uint32_t path, module;
        uint64_t address;
        code = rec_function_place(spaces, begin->image, begin->routine, &path, &address,
                                  convert->kernel.err);
        if (code != WEFT_OK || path == WEFT_ID_NONE ||
            rec_frame_class_of(weft_strtab_get(spaces->texts, path), path == exe) != REC_FRAME_OWN)
            continue;
        code = weft_symbols_module(spaces->symbols, weft_strtab_get(spaces->texts, path),
                                   rec_build_id(spaces, path), &module, convert->kernel.err);
        if (code == WEFT_OK &&
            !rec_starts_routine(&convert->starts, begin->thread,
                                weft_symbols_name(spaces->symbols, module, address),
                                exe == UINT32_MAX
                                    ? WEFT_STR("")
                                    : weft_str_base(weft_strtab_get(spaces->texts, exe))))
            code = kernel_no_memory(&convert->kernel);
    }
    return code;
}

/* Does the name belong to the process, not to the thread? */
static bool is_inherited(const struct rec_convert *convert, struct weft_str name,
                         struct weft_str main_name, uint64_t pid)
{
    const struct rec_spaces *spaces = &convert->spaces;
    const struct rec_process *process = rec_process_of(spaces, (uint32_t)pid);
    if (name.n_bytes == 0 || weft_str_equal(name, main_name))
        return true;
    if (process && process->comm != UINT32_MAX &&
        weft_str_equal(name, weft_strtab_get(spaces->texts, process->comm)))
        return true;
    if (!process || process->exe == UINT32_MAX)
        return false;
    struct weft_str exe = weft_str_base(weft_strtab_get(spaces->texts, process->exe));
    exe.n_bytes = exe.n_bytes < COMM_BYTES ? exe.n_bytes : COMM_BYTES;
    return weft_str_equal(name, exe);
}

static struct weft_str name_of(const struct kernel_threads *threads, const struct kernel_thread *of)
{
    return of->name == WEFT_ID_NONE ? (struct weft_str){ 0 }
                                    : weft_strtab_get(threads->names, of->name);
}

/* Numbers of the main threads, by process: the last one of a process number. */
static struct weft_map *find_main_threads(const struct kernel_threads *threads, uint32_t *place)
{
    struct weft_map *of_pid = weft_map_new();
    for (uint32_t k = 0; of_pid && k < threads->n; k++) {
        const struct kernel_thread *thread = &threads->items[k];
        if (thread->tid == 0 || thread->tid != thread->pid)
            continue;
        const uint32_t index = weft_map_add(of_pid, thread->pid, NULL);
        if (index == WEFT_MAP_NONE) {
            weft_map_free(of_pid);
            return NULL;
        }
        place[index] = k;
    }
    return of_pid;
}

static bool name_thread(struct rec_convert *convert, uint32_t number, const struct weft_map *of_pid,
                        const uint32_t *main_threads)
{
    struct kernel_threads *threads = &convert->kernel.threads;
    const struct kernel_thread *thread = &threads->items[number];
    const struct weft_str start = rec_starts_name(&convert->starts, number);
    if (start.n_bytes == 0 || thread->tid == thread->pid || thread->pid == 0)
        return true;
    const uint32_t index = weft_map_find(of_pid, thread->pid);
    const struct weft_str main_name = index == WEFT_MAP_NONE
                                          ? (struct weft_str){ 0 }
                                          : name_of(threads, &threads->items[main_threads[index]]);
    if (!is_inherited(convert, name_of(threads, thread), main_name, thread->pid))
        return true;
    convert->n_renamed++;
    return kernel_thread_name(threads, number, start);
}

enum weft_code rec_name_threads(struct rec_convert *convert)
{
    const struct kernel_threads *threads = &convert->kernel.threads;
    WEFT_TRY(take_routines(convert));
    uint32_t *main_threads = calloc(threads->n + 1, sizeof *main_threads);
    struct weft_map *of_pid = main_threads ? find_main_threads(threads, main_threads) : NULL;
    bool is_good = of_pid != NULL;
    for (uint32_t k = 0; is_good && k < threads->n; k++)
        is_good = name_thread(convert, k, of_pid, main_threads);
    weft_map_free(of_pid);
    free(main_threads);
    return is_good ? WEFT_OK : kernel_no_memory(&convert->kernel);
}
