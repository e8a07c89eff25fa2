/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/pci.h>
#include <net/devlink.h>

#define MAX_VFS 8

struct shim {
	struct list_head list;
	struct pci_dev *pdev;
	u16 mode;
	unsigned int ports;	/* registered ones: the uplink, then those of the VFs */
	struct devlink_port port[1 + MAX_VFS];
	struct net_device *representor[MAX_VFS];
};

/* Makes a switch of the function: the netdev of this name its uplink, new netdevs the representors of its first VFs. */
int switch_add(struct devlink *devlink, struct shim *shim, const char *uplink, unsigned int vfs);
/* Undoes it, however far it came. */
void switch_remove(struct devlink *devlink, struct shim *shim);
