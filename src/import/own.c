/* SPDX-License-Identifier: MIT
 *
 * Asks the sniffers of the two formats; the command line asks here before it replaces or opens a
 * file.
 */
#include "import/own.h"

#include "base/file.h"
#include "store/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_BYTES = 16 };

enum weft_own weft_own_of(const char *path)
{
    uint8_t bytes[MAGIC_BYTES];
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return WEFT_OWN_NONE;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n_read = fd >= 0 ? read(fd, bytes, sizeof bytes) : -1;
    if (fd >= 0)
        (void)close(fd);
    const size_t n_bytes = n_read > 0 ? (size_t)n_read : 0;
    return weft_store_sniff(bytes, n_bytes)       ? WEFT_OWN_TRACE
           : weft_recording_sniff(bytes, n_bytes) ? WEFT_OWN_RECORDING
                                                  : WEFT_OWN_NONE;
}

enum weft_code weft_own_recording(const char *path, struct weft_recording_about *about,
                                  struct weft_err *err)
{
    struct weft_mapped file;
    WEFT_TRY(weft_mapped_open(path, &file, err));
    enum weft_code code = weft_recording_look(&file, about, err);
    weft_mapped_close(&file);
    return code;
}
