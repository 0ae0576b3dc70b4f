// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A GPU's driver gives memory of the machine back when it has become short, and moves buffers for that. This one only
 * moves them: importers must let go of them in the midst of any allocation, also of their own.
 */
#include <linux/module.h>
#include <linux/shrinker.h>
#include <linux/swap.h>

#include "testgpu.h"

static unsigned int shrink;
module_param(shrink, uint, 0644);
MODULE_PARM_DESC(shrink, "how many buffers to move when calls find no memory");
static unsigned long shrunk;
module_param(shrunk, ulong, 0444);
MODULE_PARM_DESC(shrunk, "buffers that were moved so far for that");

/*
 * Enough to be asked each time, and only in calls that want memory, whose locks are tested: kswapd would always be the
 * first to have the locks of the buffers.
 */
static unsigned long count(struct shrinker *s, struct shrink_control *c)
{
	return current_is_kswapd() || !READ_ONCE(shrink) ? 0 : 2;
}

static unsigned long scan(struct shrinker *s, struct shrink_control *c)
{
	unsigned long moved = testgpu_buffers_move();

	WRITE_ONCE(shrink, shrink - min_t(unsigned long, shrink, moved));
	WRITE_ONCE(shrunk, shrunk + moved);
	return moved ? moved : SHRINK_STOP;
}

#ifdef GGAS_HAS_SHRINKER_ALLOC
static struct shrinker *shrinker;

int testgpu_shrinker_init(void)
{
	shrinker = shrinker_alloc(0, "testgpu");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker->batch = 1;
	shrinker->seeks = 0;
	shrinker_register(shrinker);
	return 0;
}

void testgpu_shrinker_exit(void)
{
	shrinker_free(shrinker);
}
#else
static struct shrinker shrinker = { .count_objects = count, .scan_objects = scan, .batch = 1, .seeks = 0 };

int testgpu_shrinker_init(void)
{
#ifdef GGAS_HAS_SHRINKER_WITHOUT_NAME
	return register_shrinker(&shrinker);
#else
	return register_shrinker(&shrinker, "testgpu");
#endif
}

void testgpu_shrinker_exit(void)
{
	unregister_shrinker(&shrinker);
}
#endif
