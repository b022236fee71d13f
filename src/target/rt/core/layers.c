// SPDX-License-Identifier: Apache-2.0
/*
 * Which layers a flavour has.  Built once for each flavour by the Makefile, which takes RT_LAYERS
 * from the row in raddle/flavour.inc.
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
