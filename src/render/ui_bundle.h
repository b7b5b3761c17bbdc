/* SPDX-License-Identifier: MIT
 *
 * The user interface (ui/), compiled into the program. The build generates the object: the script
 * and the style sheet of the bundle, byte for byte, as they stand inside <script> and <style>.
 */
#ifndef WEFT_RENDER_UI_BUNDLE_H
#define WEFT_RENDER_UI_BUNDLE_H

#include <stddef.h>

struct weft_ui_bundle {
    const unsigned char *script; /* JavaScript, UTF-8 */
    size_t script_bytes;
    const unsigned char *style; /* CSS, UTF-8; may be empty */
    size_t style_bytes;
};

extern const struct weft_ui_bundle weft_ui_bundle;

#endif
