/* SPDX-License-Identifier: MIT
 * An include that is not through the door. */
#include "model/trace.h"
