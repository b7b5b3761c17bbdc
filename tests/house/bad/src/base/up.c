/* SPDX-License-Identifier: MIT */

#include "store/up.h"

#include "base/error.h"
