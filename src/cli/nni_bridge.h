/* SPDX-License-Identifier: MIT */
/* nni_bridge.h - two processes for a manager of NNI 2.8 to 3.0: the child runs
 * the dispatcher, the parent keeps the connection, whatever becomes of the
 * child, and tells the manager how it ended. */
#ifndef CLI_NNI_BRIDGE_H
#define CLI_NNI_BRIDGE_H

struct err;
struct nni_start;

/* Runs a session on these descriptors, taken, to its end: the exit status and,
 * where that is not 0, the reason in err. */
typedef int nni_dispatch(struct nni_start *n, int in_fd, int out_fd,
                         struct err *err);

/* Before any thread is started; returns in both processes.  In the child what
 * `dispatch` gives.  In the parent the exit status: the child's, if that
 * failed, or that of the connection; all is told by then. */
int nni_bridge_serve(struct nni_start *n, nni_dispatch *dispatch,
                     struct err *err);

#endif
