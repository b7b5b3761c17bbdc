/* SPDX-License-Identifier: MIT
 *
 * The user interface (ui/), compiled into the program. The build generates the object: the script
 * and the style sheet of the report, byte for byte, as they stand inside <script> and <style>, and
 * those of the page that the server shows.
 */
#ifndef WEFT_RENDER_PAGE_UI_BUNDLE_H
#define WEFT_RENDER_PAGE_UI_BUNDLE_H

#include <stddef.h>

struct weft_ui_bundle {
    const unsigned char *script; /* JavaScript, UTF-8 */
    size_t script_bytes;
    const char *script_hash;    /* "sha256-...", as a Content-Security-Policy names it */
    const unsigned char *style; /* CSS, UTF-8; may be empty */
    size_t style_bytes;
    const char *style_hash;
    const unsigned char *served_script; /* the same of the page that the server shows */
    size_t served_script_bytes;
    const unsigned char *served_style;
    size_t served_style_bytes;
};

extern const struct weft_ui_bundle weft_ui_bundle;

#endif
