// SPDX-License-Identifier: GPL-2.0
/* devlink_shim: a function's switch, with its ports and their netdevs. */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include "shim.h"

static netdev_tx_t drop(struct sk_buff *skb, struct net_device *netdev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops representor_ops = { .ndo_start_xmit = drop };

static int add_port(struct devlink *devlink, struct shim *shim)
{
	static const u8 switch_id[] = { 0x0c, 0x42, 0xa1, 0x00, 0x00, 0x12, 0x34, 0x56 };
	struct devlink_port *port = &shim->port[shim->ports];
	struct devlink_port_attrs attrs = { .flavour = DEVLINK_PORT_FLAVOUR_PHYSICAL };
	int err;

	memcpy(attrs.switch_id.id, switch_id, sizeof(switch_id));
	attrs.switch_id.id_len = sizeof(switch_id);
	devlink_port_attrs_set(port, &attrs);
	if (shim->ports)
		devlink_port_attrs_pci_vf_set(port, 0, 0, shim->ports - 1, false);
	devl_lock(devlink);
	err = devl_port_register(devlink, port, shim->ports);
	devl_unlock(devlink);
	if (!err)
		shim->ports++;
	return err;
}

static int add_representor(struct shim *shim, unsigned int vf)
{
	struct net_device *netdev = alloc_etherdev(0);
	int err;

	if (!netdev)
		return -ENOMEM;
	netdev->netdev_ops = &representor_ops;
	SET_NETDEV_DEV(netdev, &shim->pdev->dev);
	SET_NETDEV_DEVLINK_PORT(netdev, &shim->port[1 + vf]);
	eth_hw_addr_random(netdev);
	err = register_netdev(netdev);
	if (err)
		free_netdev(netdev);
	else
		shim->representor[vf] = netdev;
	return err;
}

/* Makes the netdev of this name the uplink's; with none, ends that of any. */
static int set_uplink(struct shim *shim, const char *name)
{
	struct net_device *netdev;
	int err = -ENODEV;

	rtnl_lock();
	for_each_netdev(&init_net, netdev) {
		if (name && netdev->dev.parent == &shim->pdev->dev && !strcmp(netdev->name, name)) {
			netdev->devlink_port = &shim->port[0];
			err = 0;
		} else if (!name && netdev->devlink_port == &shim->port[0]) {
			netdev->devlink_port = NULL;
		}
	}
	rtnl_unlock();
	return err;
}

int switch_add(struct devlink *devlink, struct shim *shim, const char *uplink, unsigned int vfs)
{
	unsigned int i;
	int err = 0;

	shim->mode = DEVLINK_ESWITCH_MODE_SWITCHDEV;
	for (i = 0; i <= vfs && !err; i++)
		err = add_port(devlink, shim);
	if (!err)
		err = set_uplink(shim, uplink);
	for (i = 0; i < vfs && !err; i++)
		err = add_representor(shim, i);
	return err;
}

void switch_remove(struct devlink *devlink, struct shim *shim)
{
	unsigned int i;

	for (i = 0; i < MAX_VFS; i++) {
		if (shim->representor[i]) {
			unregister_netdev(shim->representor[i]);
			free_netdev(shim->representor[i]);
		}
	}
	set_uplink(shim, NULL);
	devl_lock(devlink);
	while (shim->ports)
		devl_port_unregister(&shim->port[--shim->ports]);
	devl_unlock(devlink);
}
