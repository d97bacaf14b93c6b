/* Names by c-ares, one connection to each. */
#include <ares.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static void answered(void* name, int status, int timeouts, struct ares_addrinfo* found) {
  (void)timeouts;
  if (status != ARES_SUCCESS) {
    printf("%s %s\n", (char*)name, status == ARES_ENOTFOUND ? "unknown" : ares_strerror(status));
    return;
  }
  for (struct ares_addrinfo_node* one = found->nodes; one != NULL; one = one->ai_next) {
    char text[64];
    int fd = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
    int made = connect(fd, one->ai_addr, one->ai_addrlen);
    getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST);
    printf("%s %s %s\n", (char*)name, text, made == 0 ? "reached" : "refused");
    close(fd);
  }
  ares_freeaddrinfo(found);
}

static void wait_for(ares_channel channel) {
  for (;;) {
    fd_set reads, writes;
    FD_ZERO(&reads);
    FD_ZERO(&writes);
    int last = ares_fds(channel, &reads, &writes);
    if (last == 0) return;
    struct timeval step, *limit = ares_timeout(channel, NULL, &step);
    select(last, &reads, &writes, NULL, limit);
    ares_process(channel, &reads, &writes);
  }
}

int main(int argc, char** argv) {
  ares_channel channel;
  struct ares_addrinfo_hints hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS || ares_init(&channel) != ARES_SUCCESS) return 1;
  for (int i = 1; i < argc; ++i) {
    ares_getaddrinfo(channel, argv[i], "80", &hints, answered, argv[i]);
    wait_for(channel);
  }
  ares_destroy(channel);
  return 0;
}
