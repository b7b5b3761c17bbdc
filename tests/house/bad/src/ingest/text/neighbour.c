/* SPDX-License-Identifier: MIT */

#include "ingest/xray/xray.h"
