#!/usr/bin/env python3
"""audit.py - judges a recording of a job, and knows nothing but the rules.

    audit.py FILE...            judges; prints what breaks a rule; 1: something does
    audit.py --each FILE...     the same, each of them as a job of its own
    audit.py --control FILE...  plants each fault that fits; 1: one is not noticed
    audit.py --control=RULES    only those of these rules, with commas; or the names of faults

FILE is what `wireup trace --all --json` prints: of a real job, or of a simulated one (tests/cluster.h).

The rules, by the recordings of all nodes:
  once      a collective is over once on each node, and only where the node has contributed
  same      ... with one outcome on all nodes: with the contributions of all of them (those that are not empty), or
            failed; groups that bear losses leave out those of nodes that do not hear of the outcome any more; a node
            that was told of a start before it decides no more
  epoch     a node takes part in no collective of an earlier epoch than the one before
  answer    each request of a process is answered at most once, and nothing is answered without a request
  end       nothing is sent on a connection that is closed
  exit      the exit status that the launcher knows of a process is the one that its node has seen; in a recording without
            the end of the job, it may know of fewer ends: their reports may have been on their way
"""
import copy
import json
import sys

EPOCH_BITS = 40
BEAR_LOSSES = "optgroup", "ungroup"  # groups that may be formed without some, and their ends


def key_of(e):
    return e["of_job"], e["kind"], e["group"], e["generation"]


class Audit:
    def __init__(self):
        self.wrong = []
        self.contributed = {}  # (node, key): block
        self.over = {}  # (node, key): (status, blocks)
        self.epochs = {}  # (node, job, group): of the last contribution
        self.requests = {}  # (node, connection, protocol): open tags
        self.closed = set()
        self.ends = {}  # (job, rank): statuses on its node, in order
        self.known = {}  # the same at the launcher
        self.ended_jobs = set()  # as the launcher knows
        self.launcher = None
        self.count = 0

    def complain(self, rule, e, text):
        self.wrong.append((rule, f"{e.get('time', 0):.6f} {e.get('trace')}: {rule}: {text}"))

    # ---- collectives

    def contribute(self, e):
        key, node = key_of(e), e["trace"]
        epoch = e["generation"] >> EPOCH_BITS
        before = self.epochs.get((node, e["of_job"], e["group"]), 0)
        if epoch < before:
            self.complain("epoch", e, f"it contributes to {key} of epoch {epoch} after epoch {before}")
        self.epochs[node, e["of_job"], e["group"]] = epoch
        if (node, key) in self.contributed:
            self.complain("once", e, f"it contributes to {key} twice")
        self.contributed[node, key] = e.get("block", "")
        self.count += 1

    def completed(self, e):
        key, node = key_of(e), e["trace"]
        if (node, key) in self.over:
            self.complain("once", e, f"{key} is over twice")
        if (node, key) not in self.contributed:
            self.complain("once", e, f"{key} is over where nothing was contributed")
        late = e["generation"] >> EPOCH_BITS < self.epochs.get((node, e["of_job"], e["group"]), 0)
        if not late:  # after a start: it reaches no process any more
            self.over[node, key] = e["status"], sorted(e.get("blocks", []))

    def outcomes(self):
        first = {}
        for (node, key), (status, blocks) in self.over.items():
            e = {"trace": node}
            if first.setdefault(key, (status, blocks)) != (status, blocks):
                self.complain("same", e, f"{key} ends otherwise than on another node")
            for (other, of), block in self.contributed.items():
                if key[1] in BEAR_LOSSES and (other, key) not in self.over:
                    continue  # it is lost: its processes are named as absent
                if of == key and status == "success" and block and block not in blocks:
                    self.complain("same", e, f"{key} is a success without the contribution of {other}")

    # ---- processes

    def message(self, e):
        where = e["trace"], e.get("connection"), e["protocol"]
        if where[:2] in self.closed and e["way"] == "out":
            self.complain("end", e, f"{e['command']} is sent on connection {where[1]}, which is closed")
        tag = e.get("fields", {}).get("tag")
        if e["protocol"] != "PMIx" or not tag or tag >= 1 << 31:
            return
        asked = self.requests.setdefault(where, {})
        if e["way"] == "in":
            asked[tag] = asked.get(tag, 0) + 1
        elif tag not in asked:
            self.complain("answer", e, f"{e['command']} with tag {tag} answers no request")
        else:
            asked[tag] -= 1
            if asked[tag] < 0:
                self.complain("answer", e, f"{e['command']} with tag {tag} is answered twice")

    def state(self, e):
        if e["event"] not in ("exit", "death") or "rank" not in e:
            return
        what = f"{e['event']} {e['code']}"
        who = e["job"], e["rank"]
        if e.get("effect") and e["trace"] != self.launcher:
            self.ends.setdefault(who, []).append((what, e))
        elif not e.get("effect") and e["trace"] == self.launcher:
            self.known.setdefault(who, []).append(what)

    def exits(self):
        for who, seen in self.ends.items():
            known = self.known.get(who, [])
            if who[0] not in self.ended_jobs and len(known) < len(seen):
                continue
            for what, e in seen:
                if what not in known:
                    self.complain("exit", e, f"rank {who[1]} of job {who[0]}: {what}, which the launcher does not know")

    def take(self, e):
        record = e.get("record")
        if record == "begin" and self.launcher is None:
            self.launcher = e["trace"]
        if "way" in e:
            self.message(e)
        elif record == "close":
            self.closed.add((e["trace"], e.get("connection")))
        elif record == "open":
            self.closed.discard((e["trace"], e.get("connection")))
            for where in [w for w in self.requests if w[:2] == (e["trace"], e.get("connection"))]:
                del self.requests[where]
        elif e.get("effect") == "contribute":
            self.contribute(e)
        elif record == "completed":
            self.completed(e)
        elif e.get("effect") == "job_ended" and e["trace"] == self.launcher:
            self.ended_jobs.add(e["job"])
        elif record == "proc_state" or e.get("effect") == "proc_state":
            self.state(e)


def judge(events):
    a = Audit()
    for e in events:
        a.take(e)
    a.outcomes()
    a.exits()
    return a


# ---- planted faults: (rule, name, which event, what to put in its place)


def changed(e, **parts):
    other = copy.deepcopy(e)
    other.update(parts)
    return other


def is_over(e, status=None):
    return e.get("record") == "completed" and status in (None, e["status"])


def is_part(e):
    return e.get("effect") == "contribute"


def is_fence(e, way):
    return e.get("way") == way and e["protocol"] == "PMIx" and e["command"] == "fence"


FAULTS = [
    ("once", "over", is_over, lambda e: [e, e]),
    ("once", "part", is_part, lambda e: []),
    ("same", "outcome", lambda e: is_over(e, "success"), lambda e: [changed(e, status="failed", blocks=[])]),
    ("same", "blocks", lambda e: is_over(e) and len(e["blocks"]) > 1, lambda e: [changed(e, blocks=e["blocks"][1:])]),
    ("epoch", "old", lambda e: is_part(e) and e["generation"] >> EPOCH_BITS == 1,
     lambda e: [e, changed(e, generation=1 << 20)]),
    ("answer", "twice", lambda e: is_fence(e, "out"), lambda e: [e, e]),
    ("answer", "unasked", lambda e: is_fence(e, "in"), lambda e: []),
    ("exit", "code", lambda e: e.get("effect") == "proc_state" and e["event"] in ("exit", "death"),
     lambda e: [changed(e, code=77)]),
]


def places(events, rule, fits):
    at = [i for i, e in enumerate(events) if fits(e)]
    if rule == "epoch":
        at = at[-1:]
    if rule == "exit":  # the launcher's own is no witness
        at = [i for i in at if events[i]["trace"] != events[0]["trace"]]
    return at


def control(jobs, rules):
    """Each fault is planted into the first of the jobs where it fits."""
    missed = 0
    for rule, name, fits, plant in FAULTS:
        if rules and rule not in rules and name not in rules:
            continue
        events, at = next(((e, at) for e in jobs if (at := places(e, rule, fits))), (None, None))
        if not at:
            print(f"nothing to plant: {rule}, {name}")
            missed += 1
            continue
        i = at[len(at) // 2]
        found = {r for r, _ in judge(events[:i] + plant(events[i]) + events[i + 1:]).wrong}
        if rule not in found:
            print(f"not noticed: {rule} at {events[i]['time']} {events[i]['trace']}")
            missed += 1
    last = [e for e in jobs[0] if e.get("way") == "out"][-1:]
    if (not rules or "end" in rules) and "end" not in {r for r, _ in judge(jobs[0] + last).wrong}:
        print("not noticed: end")
        missed += 1
    return missed


def read(name):
    with open(name, encoding="utf-8") as f:
        # (The trace of one node alone does not name it.)
        return [{"trace": "", **json.loads(line)} for line in f if line.strip()]


def main():
    how = sys.argv[1] if sys.argv[1:] and sys.argv[1].startswith("--") else ""
    names = sys.argv[2:] if how else sys.argv[1:]
    if how.startswith("--control"):
        return control([read(name) for name in names], how.split("=")[1].split(",") if "=" in how else []) > 0
    jobs = [read(name) for name in names] if how == "--each" else [[e for name in names for e in read(name)]]
    count = broken = 0
    for events, name in zip(jobs, names):
        a = judge(events)
        for _, text in a.wrong:
            print(f"{name}: {text}" if how else text)
        count += a.count
        broken += len(a.wrong)
    print(f"{count} contributions to collectives, {broken} rules broken")
    return bool(broken) or not count


sys.exit(main())
