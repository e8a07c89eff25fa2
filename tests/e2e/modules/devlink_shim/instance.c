// SPDX-License-Identifier: GPL-2.0
/*
 * devlink_shim: what devlink tells of a SmartNIC's PF, on any PCI function. The function keeps its driver.
 *
 *   cd /sys/module/devlink_shim/parameters
 *   echo 0000:01:00.0 >add             a devlink instance with information about the firmware
 *   echo 0000:01:00.0 enp1s0f0 3 >add  in switchdev mode besides: enp1s0f0 is port p0, three new netdevs pf0vf0 to 2
 *
 * All of it goes with the function, or with the module.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include "shim.h"

static LIST_HEAD(shims);
static DEFINE_MUTEX(lock);

static int mode_get(struct devlink *devlink, u16 *mode)
{
	*mode = ((struct shim *)devlink_priv(devlink))->mode;
	return 0;
}

static int info_get(struct devlink *devlink, struct devlink_info_req *req, struct netlink_ext_ack *extack)
{
	int err = devlink_info_version_running_put(req, "fw.version", "1.2.3");

	return err ?: devlink_info_version_running_put(req, "fw.app.name", "Shim OS Package");
}

static const struct devlink_ops ops = { .eswitch_mode_get = mode_get, .info_get = info_get };

static void remove(struct shim *shim)
{
	struct devlink *devlink = priv_to_devlink(shim);
	struct pci_dev *pdev = shim->pdev;

	list_del(&shim->list);
	switch_remove(devlink, shim);
	devlink_unregister(devlink);
	devlink_free(devlink);
	pci_dev_put(pdev);
}

static int add(const char *value, const struct kernel_param *param)
{
	unsigned int domain, bus, slot, function, vfs = 0;
	char uplink[IFNAMSIZ] = "";
	struct devlink *devlink;
	struct pci_dev *pdev;
	struct shim *shim;
	int read, err = 0;

	read = sscanf(value, "%x:%x:%x.%x %15s %u", &domain, &bus, &slot, &function, uplink, &vfs);
	if ((read != 4 && read != 6) || vfs > MAX_VFS)
		return -EINVAL;
	pdev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
	if (!pdev)
		return -ENODEV;
	devlink = devlink_alloc(&ops, sizeof(*shim), &pdev->dev);
	if (!devlink) {
		pci_dev_put(pdev);
		return -ENOMEM;
	}
	shim = devlink_priv(devlink);
	shim->pdev = pdev;
	mutex_lock(&lock);
	list_add(&shim->list, &shims);
	devlink_register(devlink);
	if (*uplink)
		err = switch_add(devlink, shim, uplink, vfs);
	if (err)
		remove(shim);
	mutex_unlock(&lock);
	return err;
}

static const struct kernel_param_ops add_ops = { .set = add };
module_param_cb(add, &add_ops, NULL, 0200);

static void remove_all_of(const void *device)
{
	struct shim *shim, *next;

	mutex_lock(&lock);
	list_for_each_entry_safe(shim, next, &shims, list)
		if (!device || device == &shim->pdev->dev)
			remove(shim);
	mutex_unlock(&lock);
}

static int on_pci_bus(struct notifier_block *block, unsigned long action, void *device)
{
	if (action == BUS_NOTIFY_DEL_DEVICE)
		remove_all_of(device);
	return 0;
}

static struct notifier_block block = { .notifier_call = on_pci_bus };

static int __init load(void)
{
	return bus_register_notifier(&pci_bus_type, &block);
}

static void __exit unload(void)
{
	bus_unregister_notifier(&pci_bus_type, &block);
	remove_all_of(NULL);
}

module_init(load);
module_exit(unload);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("devlink instances and representors on any PCI function (test aid)");
