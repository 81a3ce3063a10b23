/* pmix_fabric.h - PMIx_Fabric_register and PMIx_Fabric_update: the network devices that the
 * requester's node shows, as one fabric whose index is 0.  What lies behind the devices no node
 * shows. */
#ifndef WIREUP_SERVER_PMIX_FABRIC_H
#define WIREUP_SERVER_PMIX_FABRIC_H

#include "server/pmix_session.h"

pmix_reader pmix_read_fabric, pmix_read_fabric_update;
pmix_replier pmix_reply_fabric;

#endif
