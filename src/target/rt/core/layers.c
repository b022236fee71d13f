// SPDX-License-Identifier: Apache-2.0
/*
 * The list of a flavour's layers.  The Makefile compiles this file once for each flavour, with
 * RT_LAYERS from the row in raddle/flavour.inc.
 */
#include "rt/core/layer.h"

#define RT_LAYER(name) extern const struct rt_layer rt_layer_##name;
RT_LAYERS
#undef RT_LAYER

const struct rt_layer *const rt_layers[] = {
#define RT_LAYER(name) &rt_layer_##name,
	RT_LAYERS
#undef RT_LAYER
		NULL};
