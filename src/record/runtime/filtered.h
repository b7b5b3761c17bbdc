/* SPDX-License-Identifier: MIT
 *
 * Filters of calls at run time, by the text file `filter` in the folder of the recording. Lines:
 *
 *     depth N                     no calls below N others that are recorded
 *     min_ns N                    no calls that were shorter and hold no other recorded call
 *     cull N                      no more calls of a function that a thread has called N times, if
 *                                 they took less than a microsecond each; reported as CULLED
 *     further N                   first line, N in 8 digits: the recorder may add lines, and then
 *                                 changes N
 *     none                        only functions that `only` names: of none so far
 *     skip MODULE START END       no calls of the functions in [START, END): hexadecimal addresses
 *                                 as in the symbol table of the module, which is named by its path
 *     only MODULE START END       only calls of such functions
 *
 * The rest of the file is ignored from the first line that is none of these.
 */
#ifndef WEFT_RECORD_RUNTIME_FILTERED_H
#define WEFT_RECORD_RUNTIME_FILTERED_H

#include "record/runtime/ring.h"

/* Reads the filters, if there are any. */
void weft_filtered_begin(void);

/* Records an entry or exit if the filters let it pass; takes the time only then. The caller has
 * entered; this leaves. */
void weft_filtered_record(enum weft_unit_kind kind, uint64_t address);

#endif
