#include "CFaultlineTestSupport.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int fl_test_in_child(int (*body)(void *context), void *context, unsigned seconds) {
    pid_t child = fork();
    if (child < 0) return -errno;
    if (child == 0) {
        /* Threads of Dispatch block most signals. */
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGALRM);
        sigprocmask(SIG_UNBLOCK, &signals, NULL);
        signal(SIGALRM, SIG_DFL);
        alarm(seconds);
        _exit(body(context));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
