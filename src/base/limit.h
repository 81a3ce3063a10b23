/* limit.h - every maximum, time-out and retry in one page, each with its reason.
 *
 * "Charge before you keep": what a client makes us hold is bounded here.  Protocol limits that
 * peers rely on are marked (wire); the others are ours to change.
 */
#ifndef WIREUP_BASE_LIMIT_H
#define WIREUP_BASE_LIMIT_H

/* PMI-1 and PMI-2, all including the final NUL (wire).  1024 is what every MPICH survives: larger
 * values make MPICH 4.0 overrun its line, odd ones break its value segmentation. */
#define LIMIT_PMI_KVSNAME 256
#define LIMIT_PMI_KEY     64
#define LIMIT_PMI_VALUE   1024

/* What our own client library may store through our own server: longer values need no line. */
#define LIMIT_STORE_VALUE (1u << 24)

/* One PMI-1 line or PMI-2 message.  Legacy clients never pass 64 KiB (it is the buffer of the
 * common servers); spawn lines with long arguments stay below 1 MiB.  (PMI-2 frames cannot say
 * more than 999999.) */
#define LIMIT_PMI_LINE (1u << 20)

/* All lines of one spawn request together: one command line of the kernel's largest size. */
#define LIMIT_PMI_SPAWN (4u << 20)

/* Items in one numbered list of a spawn request (arguments, infos, preputs). */
#define LIMIT_SPAWN_ITEMS 65536

/* Commands in one spawn request, and processes of one job. */
#define LIMIT_SPAWN_COMMANDS 4096
#define LIMIT_JOB_PROCS      (1u << 24)

/* Bytes of keys and values one client may keep in the store: 64 MiB is 100 times the largest
 * exchange seen (a card of 600 KiB), and 256 such clients still fit on a small node. */
#define LIMIT_CLIENT_STORE (64u << 20)

/* Puts that our client libraries keep until the next commit; a batch of this size travels ahead of
 * it, so that memory stays small and the server works while the program goes on. */
#define LIMIT_BATCH_SEND (1u << 20)

/* What an entry costs besides its key and value: record, index, alignment.  Charged too, or a
 * million empty values would be free. */
#define LIMIT_STORE_ENTRY 96

/* Output queued for one client that does not read; a client is strictly request-reply, so more
 * than its longest reply means that it floods us. */
#define LIMIT_CLIENT_QUEUE (32u << 20)

/* Answers queued for a client beyond this: we stop reading from it until it reads. */
#define LIMIT_CLIENT_BACKLOG (256u << 10)

/* Requests of one client that wait for somebody else (gets, barriers, look-ups). */
#define LIMIT_CLIENT_PENDING 65536

/* What a host of our server API has not carried out yet for one client: bytes, and this much for
 * each request whatever it says.  Beyond it we read no further from that client until some is done.
 */
#define LIMIT_CLIENT_ASKS (8u << 20)
#define LIMIT_ASK_COST    1024

/* Ranks of tools: a tool is a job of its own, and a host counts them at most. */
#define LIMIT_TOOL_RANK 65536

/* Of these, fences: the first of a round takes a ticket's room for each of its members. */
#define LIMIT_CLIENT_FENCES 256

/* Names of fences over several nodes that one job may ever use: each is remembered with how often
 * it was used, so that the nodes count alike. */
#define LIMIT_SPREAD_GROUPS (1u << 20)

/* What the processes of one node put between two fences, or one of them altogether, in one block.
 */
#define LIMIT_BLOCK (1u << 31)

/* What a process may leave for a neighbour in the ring, and how many rings may be under way at
 * once: a process starts the next when the last has answered, a thread of it perhaps before. */
#define LIMIT_RING_VALUE  (64u << 10)
#define LIMIT_RING_ROUNDS 16

/* Names one client may publish; their bytes count as kept in the store.  Ports of MPI are shorter
 * than 1024 bytes. */
#define LIMIT_NAME_SERVICE 4096
#define LIMIT_NAME_PORT    16384
#define LIMIT_CLIENT_NAMES 4096

/* One record of a recording: the longest holds all that was written to a client at once, or the
 * placement of a job of many millions of processes. */
#define LIMIT_RECORD (128u << 20)

/* Processes of a recording that is played back, and the store of each of its jobs: a million of
 * them take some hundred MiB, and a file of a few bytes can ask for as many. */
#define LIMIT_REPLAY_PROCS (1u << 20)
#define LIMIT_REPLAY_STORE (UINT64_C(1) << 32)

/* Virtual size of a job's shared store.  Only touched pages cost memory; clients map it once, so
 * it can grow without their doing. */
#define LIMIT_STORE_MAP (UINT64_C(16) << 30)

/* A tail of standard output without a newline is held back up to this much, so that lines of
 * different ranks do not cut each other; then its rank gets the stream to itself until the line
 * ends. */
#define LIMIT_STDIO_TAIL (1u << 20)

/* Bytes of our own messages that wait for who reads standard error. */
#define LIMIT_LOG_QUEUE (4u << 20)

/* Output read from ranks and not yet taken by our reader; at this point we stop reading. */
#define LIMIT_STDIO_QUEUE (256u << 10)

/* Values in arrays in values …: how deep PMIx data may be nested, each value and each array
 * counted. Real data has four levels; the codec recurses, and this many fit on a thread's smallest
 * stack. */
#define LIMIT_PMIX_DEPTH 64

/* Memory that the PMIx codec takes for a list on the word of its count alone (if the bytes left
 * could hold that many at all); beyond it memory only grows as items really come. */
#define LIMIT_PMIX_TRUST (64u << 10)

/* Pointers in arrays (one byte stands for an array of any length), and cpusets (a few bytes name a
 * processor, and memory goes up to it), that one PMIx message or one call may bring: powers of two,
 * not beyond LIMIT_PMIX_TRUST. Nobody sends the one, and of the other a node has one per process.
 */
#define LIMIT_PMIX_POINTERS (8u << 10)
#define LIMIT_PMIX_CPUSETS  (4u << 10)

/* One PMIx message. Servers of the 6.1 release take 32 MiB, older ones anything; whole exchanges of
 * large jobs come as one message. */
#define LIMIT_PMIX_MESSAGE (1u << 30)

/* What listens where a PMIx server should be may be something else, which never answers.  A real
 * one may be starting a thousand processes just now. */
#define LIMIT_PMIX_GREETING_MS 60000

/* A server's good-bye is not worth more waiting. */
#define LIMIT_PMIX_FINALIZE_MS 2000

/* Launchers of one user on one machine that are asked. */
#define LIMIT_LAUNCHERS 65536

/* How long another launcher may take to answer a question about a name. */
#define LIMIT_DESK_MS 2000

/* When processes have ended as they should, nodes that wait for one of them in vain hear of it so
 * much later. */
#define LIMIT_NEWS_MS 500

/* That processes run is told with what is said next, or so much later. */
#define LIMIT_STARTED_MS 20

/* The nodes of a job have so long to say who is missing there; less than who asks waits. */
#define LIMIT_WHO_MS 1500

/* When all have left a fence at which not everybody had put something, the report on the start-up
 * waits so long for another one. */
#define LIMIT_STARTUP_QUIET_MS 3000

/* A list of nodes is text that expands: "n[6:0-999999]" is a million names.  The largest machines
 * have 16384; names are DNS names at most. */
#define LIMIT_MAP_NODES (1u << 20)
#define LIMIT_MAP_NAME  255

/* Text of a compressed map, and memory for a map that was read. */
#define LIMIT_MAP_TEXT   (256u << 20)
#define LIMIT_MAP_MEMORY (512u << 20)

/* Paths that a job may ask to have cleared up when it ends, and the length of each (as PATH_MAX).
 */
#define LIMIT_JOB_SWEEPS 65536
#define LIMIT_SWEEP_PATH 4096

/* At its end a server waits so long for files that are being cleared up for others: their file
 * system may hang. */
#define LIMIT_CLEANUP_MS 5000

/* Bytes that wait for a process that does not read what others push to it. */
#define LIMIT_PUSH_QUEUE (16u << 20)

/* Output queued for a client that listens to others: beyond it, it misses some. */
#define LIMIT_LISTENER_QUEUE (1u << 20)

/* Demands of one client for output or heartbeats at the same time. */
#define LIMIT_CLIENT_MONITORS 256

/* A credential of a security service: munge's are a few hundred characters. */
#define LIMIT_CREDENTIAL 65536

/* How deep directories are cleared up, and output that is kept for those who will ask for it. */
#define LIMIT_SWEEP_DEPTH 64
#define LIMIT_KEPT_OUTPUT (256u << 10)

/* Topics of help messages that are shown once (further ones are shown each time), the length of
 * one, and how long those who repeat them are counted before they are told of. */
#define LIMIT_HELP_TOPICS  64
#define LIMIT_HELP_TOPIC   256
#define LIMIT_HELP_TELL_MS 5000

/* Tools of one launcher at once; the length of a name that one brings. */
#define LIMIT_TOOLS     256
#define LIMIT_TOOL_NAME 200

/* Processes that may have come from one rank and are looked through for the owner of a connection:
 * more than a build with a hundred jobs makes. */
#define LIMIT_FAMILY 8192

/* One message between two daemons: the exchange of a whole job of a million processes goes in one.
 */
#define LIMIT_HOP_MESSAGE (1u << 30)

/* Bytes that may wait for one daemon that does not read.  Above the high mark its sender is asked
 * to hold back, until the low mark is reached. */
#define LIMIT_HOP_QUEUE (2u << 30)
#define LIMIT_HOP_HIGH  (4u << 20)
#define LIMIT_HOP_LOW   (1u << 20)

/* Connections that have not proved themselves yet, at one door at once: a daemon has some ten
 * children, and who connects has said who it is a moment later.  And lines in the log about refused
 * connections: so many at once for each source, then one each time this has passed. */
#define LIMIT_STRANGERS        256
#define LIMIT_STRANGER_LINES   16
#define LIMIT_STRANGER_LINE_MS 10000

/* Connections that are accepted in one turn of the event loop, and how long that may take: a flood
 * of them leaves the others their turn.  How long a door rests that has no descriptor for a
 * caller. */
#define LIMIT_DOOR_TURN    64
#define LIMIT_DOOR_TURN_MS 5
#define LIMIT_DOOR_REST_MS 100

/* How long the two messages of a greeting may take; two round trips on a machine that is busy
 * starting a job. */
#define LIMIT_HOP_GREETING_MS 10000

/* Addresses of one daemon that are tried; when one has not answered for so long, the next is tried
 * beside it; and how long all may take. */
#define LIMIT_HOP_ADDRESSES  32
#define LIMIT_HOP_STAGGER_MS 200
#define LIMIT_HOP_CONNECT_MS 20000

/* A daemon that is closed out before it was answered (its parent has too many callers) calls again,
 * so often and after so long; each time twice as long. */
#define LIMIT_HOP_RECALLS   6
#define LIMIT_HOP_RECALL_MS 50u

/* How long a link that is being closed may take to send what waits. */
#define LIMIT_HOP_LINGER_MS 5000

/* Commands that start daemons (ssh ...) which one daemon runs at once before the first of them are
 * up, how long each may take until its daemon has linked, and how much of what it says is kept to
 * tell why it failed. */
#define LIMIT_AGENT_AT_ONCE 32
#define LIMIT_AGENT_UP_MS   60000
#define LIMIT_AGENT_SAID    4096

/* The record that a daemon reads: the names of a hundred thousand nodes. */
#define LIMIT_BOOT_RECORD (32u << 20)

/* How long a daemon waits for its record; and how far its clock may be off before that is said: the
 * record may have been on its way for LIMIT_AGENT_UP_MS, which looks the same. */
#define LIMIT_BOOT_MS      30000
#define LIMIT_CLOCK_OFF_MS 120000

/* `wireup down`: so long the launcher of a DVM may take to end, with all of its nodes; more than
 * LIMIT_ASKED_MS, LIMIT_KILLED_MS and LIMIT_CLOSING_MS together. */
#define LIMIT_DOWN_MS 30000

/* Time that processes have between the polite signal and SIGKILL. */
#define LIMIT_KILL_GRACE_MS 2000

/* After a signal that asks for the end: how long processes may take that handle it (to write what
 * they have); how long a killed job and its daemons may, then output that nobody reads; and after
 * how much more the guard ends a worker that does not come to it. */
#define LIMIT_ASKED_MS   10000
#define LIMIT_KILLED_MS  5000
#define LIMIT_CLOSING_MS 3000
#define LIMIT_STUCK_MS   5000

/* A launch that cannot succeed, because a node does not come: so long the others may still say that
 * they do not come either, so that all are named at once. */
#define LIMIT_FAILED_MORE_MS 3000

/* What starts daemons (ssh, srun) and has been asked to end is killed after so long. */
#define LIMIT_AGENT_STOP_MS 3000

/* Events that are kept for processes that register for them late: how many, and the bytes of what
 * is said about them. */
#define LIMIT_KEPT_EVENTS      512
#define LIMIT_KEPT_EVENT_BYTES (1u << 20)

/* Event codes that one client may have registered for. */
#define LIMIT_EVENT_CODES 4096

/* Bytes of one stream that may be on the way between two daemons: enough to fill a fast link for
 * some milliseconds, little enough to hold for each of many nodes. */
#define LIMIT_CHANNEL_WINDOW (256u << 10)

/* Daemons: after so much silence a sign of life is sent; after so much none is expected any more.
 */
#define LIMIT_NODE_ALIVE_MS  2000
#define LIMIT_NODE_SILENT_MS 15000

/* A daemon whose parent is lost comes to another one within this, or is lost too: the silence of
 * the parent, that is noticed at different times, and the connection. */
#define LIMIT_NODE_RETURN_MS 40000

/* Links of a daemon to others than its neighbours, for exchanges: twice the logarithm of a million
 * nodes, and a half more for exchanges of some of the nodes. */
#define LIMIT_NODE_DIRECT 64
/* So long a piece waits for such a link before it goes along the tree. */
#define LIMIT_NODE_MEET_MS 3000

/* Bytes of messages that wait in a daemon for a way. */
#define LIMIT_NODE_HELD (256u << 20)

#endif
