/* limit.h - maxima, time-outs and retry counts that clients, users and nodes can reach, with
 * reasons. (Sizes that concern one module alone are beside its code.) "Charge before you keep":
 * everything that a client can make us hold is bounded here.  Protocol limits that peers rely on
 * are marked (wire); the others may change freely.
 */
#ifndef WIREUP_BASE_LIMIT_H
#define WIREUP_BASE_LIMIT_H

/* PMI-1 and PMI-2, all including the final NUL (wire).  Every MPICH survives 1024: larger
 * values make MPICH 4.0 overrun its line, odd ones break its value segmentation. */
#define LIMIT_PMI_KVSNAME 256
#define LIMIT_PMI_KEY     64
#define LIMIT_PMI_VALUE   1024

/* One value that our own client library may store through our own server; such values are not
 * limited by the length of a line. */
#define LIMIT_STORE_VALUE (1u << 24)

/* One PMI-1 line or PMI-2 message.  Legacy clients never pass 64 KiB (it is the buffer of the
 * common servers); spawn lines with long arguments stay below 1 MiB. (PMI-2 frames cannot be longer
 * than 999999 bytes.) */
#define LIMIT_PMI_LINE (1u << 20)

/* All lines of one spawn request together: as much as the largest command line of the kernel. */
#define LIMIT_PMI_SPAWN (4u << 20)

/* Items in one numbered list of a spawn request (arguments, infos, preputs). */
#define LIMIT_SPAWN_ITEMS 65536

/* Commands in one spawn request, and processes of one job. */
#define LIMIT_SPAWN_COMMANDS 4096
#define LIMIT_JOB_PROCS      (1u << 24)

/* Characters of a job's name for people: a column of a table. */
#define LIMIT_JOB_NAME 64

/* Bytes of keys and values that one client may keep in the store: 64 MiB is 100 times the largest
 * modex value seen (600 KiB), and 256 such clients still fit on a small node. */
#define LIMIT_CLIENT_STORE (64u << 20)

/* Puts that our client libraries keep until the next commit; a batch of this size is sent before
 * the commit, so that memory stays small and the server works while the program goes on. */
#define LIMIT_BATCH_SEND (1u << 20)

/* Overhead of an entry besides its key and value: record, index, alignment.  It is charged too;
 * otherwise a million empty values would be free. */
#define LIMIT_STORE_ENTRY 96

/* Output queued for one client that does not read; a client works strictly by request and reply, so
 * more than its longest reply means that it floods us. */
#define LIMIT_CLIENT_QUEUE (32u << 20)

/* With more replies than this queued for a client, we stop reading from it until it reads. */
#define LIMIT_CLIENT_BACKLOG (256u << 10)

/* Requests of one client that wait for another process (gets, barriers, look-ups). */
#define LIMIT_CLIENT_PENDING 65536

/* Requests of one client that a host of our server API has not carried out yet: their bytes, plus a
 * fixed cost for each request.  Beyond it we stop reading from that client until some are done. */
#define LIMIT_CLIENT_UPCALLS (8u << 20)
#define LIMIT_UPCALL_COST    1024

/* Ranks of tools.  Each tool is a job of its own, so at most a host numbers them. */
#define LIMIT_TOOL_RANK 65536

/* Of LIMIT_CLIENT_PENDING, fences: the first arrival in a fence reserves a ticket for each member.
 */
#define LIMIT_CLIENT_FENCES 256

/* Distinct fences over several nodes that one job may ever use: each is remembered with its use
 * count, so that all nodes count alike. */
#define LIMIT_FENCE_GROUPS (1u << 20)

/* One block: the data that the processes of one node put between two fences, or that one of them
 * put altogether. */
#define LIMIT_BLOCK (1u << 31)
/* Data that the members of groups have given each other, kept on a node for later gets. */
#define LIMIT_GROUP_RECORDS (64u << 20)

/* The value that a process passes to its neighbour in a ring, and the rings that may be in progress
 * at once: a process starts the next ring when the last one has completed, another of its threads
 * perhaps before. */
#define LIMIT_RING_VALUE  (64u << 10)
#define LIMIT_RING_ROUNDS 16

/* Names that one client may publish; their bytes count as kept in the store.  MPI ports are shorter
 * than 1024 bytes. */
#define LIMIT_NAME_SERVICE 4096
#define LIMIT_NAME_PORT    16384
#define LIMIT_CLIENT_NAMES 4096

/* The store of PyTorch's processes: one key, one value and the keys of one query as in its own
 * server; a query of several values fits a client's queue. */
#define LIMIT_TCPSTORE_KEY   (8u << 10)
#define LIMIT_TCPSTORE_VALUE (8u << 20)
#define LIMIT_TCPSTORE_KEYS  (128u << 10)
#define LIMIT_TCPSTORE_QUERY (32u << 20)

/* Credentials that a process has used are overwritten in later records of its trace, of so many: a
 * process that makes more does not pass on the oldest any more. */
#define LIMIT_TRACE_CREDENTIALS 64

/* One record of a trace: the longest holds all bytes that were written to a client at once, or the
 * placement of a job of many millions of processes. */
#define LIMIT_TRACE_RECORD (128u << 20)

/* Values of one message that `wireup trace` shows; beyond it the message is told to have more.  A
 * message of small numbers would otherwise take a hundred times its length. */
#define LIMIT_DECODE_FIELDS (1u << 20)

/* Processes of a trace that is replayed, and the store of each of its jobs: a million processes
 * take some hundred MiB, and a file of a few bytes can ask for that many. */
#define LIMIT_REPLAY_PROCS (1u << 20)
#define LIMIT_REPLAY_STORE (UINT64_C(1) << 32)

/* Virtual size of a job's shared store.  Only touched pages cost memory; clients map it once, so it
 * can grow without their help. */
#define LIMIT_STORE_MAP (UINT64_C(16) << 30)

/* The end of standard output without a newline is held back up to this size, so that lines of
 * different ranks do not cut into each other; beyond it the rank has the stream to itself until the
 * line ends. */
#define LIMIT_STDIO_TAIL (1u << 20)

/* Bytes of our own messages that wait for the reader of standard error. */
#define LIMIT_LOG_QUEUE (4u << 20)

/* Output read from ranks and not yet taken by our reader; at this point we stop reading. */
#define LIMIT_STDIO_QUEUE (256u << 10)

/* Nesting depth of PMIx data (values in arrays in values ...), each value and each array counted.
 * Real data has four levels; the codec recurses, and this depth fits on the smallest stack of a
 * thread. */
#define LIMIT_PMIX_DEPTH 64

/* Memory that the PMIx codec allocates for a list by its count alone (if the bytes left could hold
 * that many at all); beyond it memory only grows as items are decoded. */
#define LIMIT_PMIX_TRUST (64u << 10)

/* Pointers in arrays (one byte stands for an array of any length) and cpusets (a few bytes name a
 * processor, and memory is allocated up to it) in one PMIx message or one call: powers of two, at
 * most LIMIT_PMIX_TRUST.  Nobody sends pointers, and a node has one cpuset per process. */
#define LIMIT_PMIX_POINTERS (8u << 10)
#define LIMIT_PMIX_CPUSETS  (4u << 10)

/* One PMIx message. Servers of the 6.1 release take 32 MiB, older ones anything; whole exchanges of
 * large jobs come as one message. */
#define LIMIT_PMIX_MESSAGE (1u << 30)

/* The listener at the address of a PMIx server may be another program, which never answers.  A real
 * server may be busy starting a thousand processes. */
#define LIMIT_PMIX_GREETING_MS 60000

/* Events of a process for itself that wait for a handler.  The oldest are dropped first. */
#define LIMIT_EVENTS_KEPT 512

/* How long a client waits for the server's reply to its finalize. */
#define LIMIT_PMIX_FINALIZE_MS 2000

/* Launchers of one user on one machine that are queried. */
#define LIMIT_LAUNCHERS 65536

/* Launchers that share a directory with this one (-launchers-dir) and are queried. */
#define LIMIT_DISTANT_LAUNCHERS 1024

/* A search for other launchers goes on for so long in one turn of the event loop: others may have
 * taken very many names. */
#define LIMIT_SEARCH_TURN_MS 2

/* How long another launcher may take to answer a query for a published name. */
#define LIMIT_CONTROL_REPLY_MS 2000

/* How long a launcher may take to answer a command of its user, as where it is short of processors;
 * after the time above someone at a terminal is told that it is waited for. */
#define LIMIT_LAUNCHER_ANSWER_MS 10000

/* Normal exits of processes are reported to nodes that wait for one of them after this delay. */
#define LIMIT_EXIT_REPORT_MS 500

/* A process start is reported with the next message, or after this delay. */
#define LIMIT_START_REPORT_MS 20

/* The nodes of a job may take this long to report the processes that are missing there; it is less
 * than the patience of the caller. */
#define LIMIT_WHO_MS 1500

/* The resource manager's command that tells its queues may take this long: less than a query of
 * other nodes. */
#define LIMIT_QUEUES_MS 1200

/* -prefork: a program may take this long to be loaded, and its fork, for which the daemon waits,
 * this long.  After that it is started like any other. */
#define LIMIT_PREFORK_LOAD_MS 30000
#define LIMIT_PREFORK_MS      2000

/* A DVM's daemon forks the next job's daemon so long after the end of one, whose launcher is then
 * no longer waiting for us; and so long after the start of one, where it does not end. */
#define LIMIT_WARM_ENDED_MS   2
#define LIMIT_WARM_STARTED_MS 1000

/* The stack of one process may take this long (gdb reads all symbols of a large program), and those
 * of all processes of a node together. */
#define LIMIT_STACK_MS  5000
#define LIMIT_STACKS_MS 15000

/* After a fence in which some processes had no data, the start-up report waits this long for
 * another one. */
#define LIMIT_STARTUP_QUIET_MS 3000

/* A node list is text that expands: "n[6:0-999999]" is a million names.  The largest machines have
 * 16384 nodes; names are at most DNS names. */
#define LIMIT_MAP_NODES (1u << 20)
#define LIMIT_MAP_NAME  255

/* Text of a compressed map, and memory for a decoded map. */
#define LIMIT_MAP_TEXT   (256u << 20)
#define LIMIT_MAP_MEMORY (512u << 20)

/* A logged text with what is written before each of its lines: many short lines become longer. */
#define LIMIT_LOGGED (32u << 20)

/* Sets of processes that processes define, of all jobs together. */
#define LIMIT_PSETS 4096

/* A token of our own is good for so many seconds, as munge's credentials usually are: whoever gets
 * one uses it at once, and clocks of nodes differ by less. */
#define LIMIT_TOKEN_S 300

/* Paths that a job may register for cleanup at its end, and the length of each (as PATH_MAX). */
#define LIMIT_JOB_CLEANUPS 65536
#define LIMIT_CLEANUP_PATH 4096

/* Bytes of such paths that outlive a worker that is killed (daemon/leftovers.h). */
#define LIMIT_LEFTOVERS (64u << 10)

/* At its end a server waits this long for cleanups on behalf of other users: their file system may
 * hang. */
#define LIMIT_CLEANUP_MS 5000

/* Bytes queued for a process that does not read the input that others push to it. */
#define LIMIT_PUSH_QUEUE (16u << 20)

/* Forwarded output (IOF) that is cached for a subscriber that does not read: of each channel,
 * unless it asks for another size, and all that it may ask for; what waits in its connection
 * besides; and a line that is held until it is whole. */
#define LIMIT_LISTENER_QUEUE (1u << 20)
#define LIMIT_LISTENER_CACHE (16u << 20)
#define LIMIT_LISTENER_OUT   (64u << 10)
#define LIMIT_LISTENER_LINE  (64u << 10)

/* Monitors of one client (output, heartbeats) that are active at once. */
#define LIMIT_CLIENT_MONITORS 256

/* Parts of its fabric that one client tells apart, and the length of a word by which it does. */
#define LIMIT_CLIENT_FABRICS 16
#define LIMIT_FABRIC_WORD    256

/* A credential of a security service: munge's are a few hundred characters. */
#define LIMIT_CREDENTIAL 65536

/* Depth to which directories are cleaned up, and output that is kept for later subscribers. */
#define LIMIT_CLEANUP_DEPTH 64
#define LIMIT_KEPT_OUTPUT   (256u << 10)

/* Topics of help messages that are shown once (further topics are shown each time), the length of a
 * topic, and how long repetitions are counted before they are reported. */
#define LIMIT_HELP_TOPICS    64
#define LIMIT_HELP_TOPIC     256
#define LIMIT_HELP_REPORT_MS 5000

/* Tools of one launcher at once; the length of a name that a tool sends. */
#define LIMIT_TOOLS     256
#define LIMIT_TOOL_NAME 200

/* Descendants of one rank that are searched for the owner of a connection: more than a build with a
 * hundred jobs makes. */
#define LIMIT_DESCENDANTS 8192

/* One message between two daemons: one message can hold the exchange of a whole job of a million
 * processes. */
#define LIMIT_DAEMON_LINK_MESSAGE (1u << 30)

/* Messages between two daemons that go as one (cluster/bundles.h): so few that they make no others
 * wait, and so many that the cost of one message does not count. */
#define LIMIT_BUNDLE          (1u << 16)
#define LIMIT_BUNDLE_MESSAGES 256

/* Bytes that may be queued for one daemon that does not read.  Above the high mark its sender is
 * asked to hold back, until the low mark is reached. */
#define LIMIT_DAEMON_LINK_QUEUE (2u << 30)
#define LIMIT_DAEMON_LINK_HIGH  (4u << 20)
#define LIMIT_DAEMON_LINK_LOW   (1u << 20)

/* Unauthenticated connections of one listener at once: a daemon has some ten children, and each
 * authenticates a moment after it has connected.  And log lines about refused connections: this
 * many at once for each source, then one each interval. */
#define LIMIT_UNAUTHENTICATED 256
#define LIMIT_REFUSAL_LINES   16
#define LIMIT_REFUSAL_LINE_MS 10000

/* How long a connection from this machine may take to say who it is (at the job's port and at that
 * of a PMIx server) or what it wants (at the control socket): a client has its words
 * ready, but may be one of a thousand processes that start at once, or be stopped for a moment. */
#define LIMIT_GREETING_MS 60000u

/* Bytes that connections of one source may together have sent before they are let in: ten thousand
 * processes that start at once send some hundred each. */
#define LIMIT_GREETING_BYTES (16u << 20)

/* Connections of one source that are looked at: this many at once, and one more each interval.
 * Those that prove who they are do not count, so thousands of processes may start together. */
#define LIMIT_SOURCE_CONNECTIONS   4096
#define LIMIT_SOURCE_CONNECTION_MS 4

/* Connections that are accepted in one turn of the event loop, and how long that may take: a flood
 * of them must leave the other descriptors their turn.  And how long a listener pauses when there
 * is no descriptor for a new connection. */
#define LIMIT_ACCEPT_TURN     64
#define LIMIT_ACCEPT_TURN_MS  5
#define LIMIT_ACCEPT_PAUSE_MS 100

/* How long the first message of a handshake may take, on a machine that is busy starting a job; and
 * the second one, of a peer that seems to know the key. */
#define LIMIT_DAEMON_LINK_GREETING_MS 10000
#define LIMIT_DAEMON_LINK_PROOF_MS    60000

/* Lost packets of a link are sent again at least this often.  TCP gives a connection up after
 * fifteen times, which is to be later than LIMIT_NODE_SILENT_MS. */
#define LIMIT_DAEMON_LINK_RESEND_MS 2000

/* Addresses of one daemon that are tried; the time without an answer after which the next one is
 * tried as well; and how long all tries together may take. */
#define LIMIT_DAEMON_LINK_ADDRESSES  32
#define LIMIT_DAEMON_LINK_STAGGER_MS 200
#define LIMIT_DAEMON_LINK_CONNECT_MS 20000

/* A daemon whose connection is closed before it was answered (its parent has too many connections)
 * connects again: this many times, after this delay, which doubles each time. */
#define LIMIT_DAEMON_LINK_RETRIES  6
#define LIMIT_DAEMON_LINK_RETRY_MS 50u

/* How long a link that is being closed may take to send its queue. */
#define LIMIT_DAEMON_LINK_CLOSE_MS 5000

/* Commands that start daemons (ssh ...): how many one daemon runs at once before the first of their
 * daemons are up, and how many while a processor is idle; how long each may take until its daemon
 * has connected, and how much of its output is kept to explain a failure. */
#define LIMIT_AGENT_AT_ONCE 32
#define LIMIT_AGENT_MOST    256
#define LIMIT_AGENT_UP_MS   60000
/* One that a busy sshd has refused is tried again: this many times, after this delay, which doubles
 * each time, and differs from node to node. */
#define LIMIT_AGENT_RETRIES  5
#define LIMIT_AGENT_RETRY_MS 100u
#define LIMIT_AGENT_OUTPUT   4096

/* Files that are brought to nodes (docs/design/staging.md): in all, and how many; one message of
 * them, and bytes under way to the slowest daemon, behind which other messages wait; threads that
 * ask the file system for them. */
#define LIMIT_STAGING_BYTES   (UINT64_C(64) << 30)
#define LIMIT_STAGING_ENTRIES 1000000u
#define LIMIT_STAGING_PIECE   (64u << 10)
#define LIMIT_STAGING_WINDOW  (1u << 20)
#define LIMIT_STAGING_ASKERS  16

/* The bootstrap record that a daemon reads: the names of a hundred thousand nodes. */
#define LIMIT_BOOTSTRAP_RECORD (32u << 20)

/* How long a daemon waits for its bootstrap record, and how far its clock may be off before it is
 * reported: the record may have been on its way for LIMIT_AGENT_UP_MS, which looks the same. */
#define LIMIT_BOOTSTRAP_MS 30000
#define LIMIT_CLOCK_OFF_MS 120000

/* `wireup down`: how long the launcher of a DVM may take to end, with all of its nodes; more than
 * LIMIT_ASKED_MS, LIMIT_KILLED_MS and LIMIT_CLOSING_MS together. */
#define LIMIT_DOWN_MS 30000

/* The traces of other nodes that come at once at the end of a job, and how long the launcher waits
 * for the next one of them. */
#define LIMIT_TRACES_AT_ONCE   16
#define LIMIT_TRACE_COLLECT_MS 60000

/* Jobs of `wireup run -batch` at once: each is a launcher with two processes. */
#define LIMIT_BATCH_AT_ONCE 256

/* Nodes that may join a DVM while it stands; each takes a place in its tree that no other one gets
 * afterwards, and a few hundred bytes in the launcher before it comes. */
#define LIMIT_DVM_JOINS 256

/* A node that joins by itself tries again after the first of these, and after twice as long each
 * time: up to the second within the third, as nodes and launcher are often started together; later
 * up to the fourth, as it may have to wait for its launcher for days. */
#define LIMIT_JOIN_FIRST_MS  50u
#define LIMIT_JOIN_EARLY_MS  100u
#define LIMIT_JOIN_MINUTE_MS 60000u
#define LIMIT_JOIN_RETRY_MS  4000u

/* A launcher takes over a DVM (up -takeover): nodes have so long to come before it is up without
 * them; later ones join as others do.  It covers the time in which the loss of a launcher that
 * hangs is noticed. */
#define LIMIT_TAKEOVER_MS 30000
/* ... and so long they wait for it where -keep-time does not say. */
#define LIMIT_KEEP_S 60

/* A launch that waits for nodes (-join) has places for so many, or as many as are asked for, and
 * for LIMIT_DVM_JOINS that are lost before the start; and says once, after so long, who is there.
 */
#define LIMIT_JOIN_NODES   4096u
#define LIMIT_JOIN_LATE_MS 30000

/* A node joins under the name of another one, which has so long to answer, or is lost. */
#define LIMIT_JOIN_PROBE_MS 3000

/* A DVM has its resource manager run another job whose nodes join it: the manager has so long to
 * take the job, and to cancel it; at the end of the DVM less, as nobody is served meanwhile.  A
 * node of it looks for the launcher so many seconds: it is there, unless the DVM has ended. */
#define LIMIT_SECOND_JOB_SUBMIT_MS 60000
#define LIMIT_SECOND_JOB_CANCEL_MS 60000
#define LIMIT_SECOND_JOB_END_MS    5000
#define LIMIT_SECOND_JOB_JOIN_S    10

/* A launcher that was offered slots of a DVM must have placed its ranks within this time; the next
 * one waits for it. */
#define LIMIT_DVM_TURN_MS 10000

/* The kernel closes the connections of a process that is killed one after the other: a launcher that
 * has seen the end of one waits so long, once, for that of another. */
#define LIMIT_DVM_CLOSING_MS 200

/* A launcher or daemon that has run for this long watches whether others can still find it; where the
 * kernel has no instance of inotify left for the user, it looks after so long, again and again. */
#define LIMIT_RENDEZVOUS_WATCH_MS 1000
#define LIMIT_RENDEZVOUS_LOOK_MS  10000

/* Time that processes have between SIGTERM and SIGKILL. */
#define LIMIT_KILL_GRACE_MS 2000

/* After a signal that asks for termination: how long processes that handle it may take (to write
 * their data); how long a killed job and its daemons may take; how long output that nobody reads is
 * kept; and after how much more the supervisor ends a worker that hangs. */
#define LIMIT_ASKED_MS   10000
#define LIMIT_KILLED_MS  5000
#define LIMIT_CLOSING_MS 3000
#define LIMIT_STUCK_MS   5000

/* After the first node has failed to start, failures of the others are awaited this long at most, so
 * that all are named at once. */
#define LIMIT_FAILED_MORE_MS 3000

/* A launch command (ssh, srun) that was asked to end is killed after this time. */
#define LIMIT_AGENT_STOP_MS 3000

/* Events that are kept for processes that register late: how many, and the bytes of their data. */
#define LIMIT_KEPT_EVENTS      512
#define LIMIT_KEPT_EVENT_BYTES (1u << 20)

/* Event codes that one client may have registered for. */
#define LIMIT_EVENT_CODES 4096

/* Bytes of one stream in flight between two daemons: enough to fill a fast link for some
 * milliseconds, little enough to hold for each of many nodes. */
#define LIMIT_CHANNEL_WINDOW (256u << 10)

/* Daemons: a heartbeat is sent after this much silence; after this much, the other daemon is lost.
 */
#define LIMIT_NODE_ALIVE_MS  2000
#define LIMIT_NODE_SILENT_MS 15000

/* A daemon whose parent is lost connects to another one within this time, or is lost too: it covers
 * the silence of the parent, which is noticed at different times, and the connection. */
#define LIMIT_NODE_RETURN_MS 40000

/* Direct links of a daemon to daemons that are not its neighbours, for exchanges: twice the
 * logarithm of a million nodes, and half as many again for exchanges among some of the nodes. */
#define LIMIT_NODE_DIRECT 64
/* How long a piece waits for such a link before it is sent along the tree, and how much longer for
 * each node of the job: the launcher passes on the addresses for most links of a first exchange.  A
 * piece that gives up too early goes through the launcher, too, and delays the addresses of others. */
#define LIMIT_NODE_DIRECT_MS      3000
#define LIMIT_NODE_DIRECT_EACH_MS 1

/* Bytes of messages that wait in a daemon for a route. */
#define LIMIT_NODE_HELD (256u << 20)

#endif
