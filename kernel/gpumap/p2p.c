// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The vendor's functions. Since Linux 6.6 only those that are exported to GPL modules are found: his open driver's. */
#include <linux/module.h>

#include "gpumap.h"

int gpumap_p2p_find(struct gpumap_p2p *p2p)
{
	p2p->get_pages = symbol_get(nvidia_p2p_get_pages);
	p2p->put_pages = symbol_get(nvidia_p2p_put_pages);
	p2p->free_page_table = symbol_get(nvidia_p2p_free_page_table);
	if (p2p->get_pages && p2p->put_pages && p2p->free_page_table)
		return 0;
	gpumap_p2p_leave(p2p);
	return -EOPNOTSUPP;
}

void gpumap_p2p_leave(struct gpumap_p2p *p2p)
{
	if (p2p->get_pages)
		symbol_put(nvidia_p2p_get_pages);
	if (p2p->put_pages)
		symbol_put(nvidia_p2p_put_pages);
	if (p2p->free_page_table)
		symbol_put(nvidia_p2p_free_page_table);
}
