/* questions.h - what nodes ask each other: cards, names, spawns, rounds, and who is missing.
 *
 * A daemon's questions carry its own tickets.  The launcher gives its server, or the planner of
 * spawns, a ticket of ours instead (SHARE_TICKET), and sends the answer back under theirs.
 */
#ifndef WIREUP_WIREUPD_QUESTIONS_H
#define WIREUP_WIREUPD_QUESTIONS_H

#include "wireupd/share.h"

/* EFFECT_FETCH, _CARDS, _REPLY, _NAMES, _ROUND or _SPAWN. */
void questions_effect(struct share *s, const struct effect *e);

/* MSG_fetch, _cards, _name, _spawn, _answer, _who, _round or _heard. */
void questions_hear(struct share *s, const struct msg *m);

/* Launcher: everybody is asked who is missing; inquest_heard() is told. */
void questions_who(struct share *s, uint64_t ticket, struct slice job);

/* Launcher: the answer to a spawn that another node asked for.  False: it was not another's. */
bool questions_answer(struct share *s, uint64_t ticket, const struct answer *a);

void questions_free(struct share *s);

#endif
