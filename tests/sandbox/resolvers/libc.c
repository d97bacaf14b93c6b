/* Names by the C library, one connection to each: what the library answers is printed. */
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void ask(const char* name) {
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
  int status = getaddrinfo(name, "80", &hints, &found);
  if (status != 0) {
    printf("%s %s\n", name, status == EAI_NONAME ? "unknown" : gai_strerror(status));
    return;
  }
  for (struct addrinfo* one = found; one != NULL; one = one->ai_next) {
    char text[64];
    int fd = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
    int made = connect(fd, one->ai_addr, one->ai_addrlen);
    getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST);
    printf("%s %s %s\n", name, text, made == 0 ? "reached" : "refused");
    close(fd);
  }
  freeaddrinfo(found);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) ask(argv[i]);
  return 0;
}
