/* manner.h - how a server may speak, and what is asked of clients. */
#ifndef WIREUP_TOOLS_CONFORM_MANNER_H
#define WIREUP_TOOLS_CONFORM_MANNER_H

enum manner {
    MANNER_PLAIN,
    MANNER_PIECES,  /* each byte by itself */
    MANNER_UNKNOWN, /* with a tuple that the client does not know */
    MANNER_ORDER,   /* tuples in another order */
    MANNERS
};

enum judgement {
    JUDGEMENT_READABLE, /* the tables have all its messages */
    JUDGEMENT_BEGINS,   /* with init, or a hello */
    JUDGEMENT_ENDS,     /* with finalize, and nothing comes after that */
    JUDGEMENT_LIMITS,   /* keys and values are as long as the server has said, at most */
    JUDGEMENTS
};

extern const char *const manner_names[MANNERS];
extern const char *const judgement_names[JUDGEMENTS];

/* MANNER_PLAIN for an unknown name. */
enum manner manner_named(const char *name);

#endif
