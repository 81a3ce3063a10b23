/* pmix_fabric.h - PMIx_Fabric_register and PMIx_Fabric_update: the network devices that the
 * requester's node shows, as one fabric whose index is 0, or those that the requester means: the
 * interfaces of one name, which are taken to be one plane on all nodes, of one type, of one vendor.
 * What lies behind the devices no node shows. */
#ifndef WIREUP_SERVER_PMIX_FABRIC_H
#define WIREUP_SERVER_PMIX_FABRIC_H

#include "server/pmix_session.h"

pmix_reader pmix_read_fabric, pmix_read_fabric_update;
pmix_replier pmix_reply_fabric;

void pmix_forget_fabrics(struct pmix_session *s);

#endif
