#!/bin/sh
# needs: gcc g++ nm strip sha256sum
# Compiles, links and runs C and C++: threads, signals, a shared library, mapped memory, an error.
set -eu
cd "$1"
cat > threads.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void *add(void *arg) {
  for (long i = 0; i < 10000; ++i) {
    pthread_mutex_lock(&lock);
    total += (long)arg;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}
int main(void) {
  pthread_t t[8];
  for (long i = 0; i < 8; ++i) pthread_create(&t[i], 0, add, (void *)(i + 1));
  for (int i = 0; i < 8; ++i) pthread_join(t[i], 0);
  printf("%ld\n", total);
  return 0;
}
C
cat > lib.c <<'C'
int answer(void) { return 42; }
C
cat > host.cc <<'C'
#include <csignal>
#include <dlfcn.h>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile std::sig_atomic_t seen;
int main() {
  void *lib = dlopen("./libanswer.so", RTLD_NOW);
  auto answer = reinterpret_cast<int (*)()>(dlsym(lib, "answer"));
  std::map<std::string, int> m{{"answer", answer()}};
  std::signal(SIGUSR1, [](int) { seen = 1; });
  std::raise(SIGUSR1);
  char *page = static_cast<char *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pid_t child = fork();
  if (child == 0) { page[0] = 'c'; _exit(5); }
  int status = 0;
  waitpid(child, &status, 0);
  try { throw std::runtime_error("thrown"); }
  catch (const std::exception &e) { std::cout << e.what() << '\n'; }
  std::cout << m["answer"] << ' ' << seen << ' ' << page[0] << ' ' << WEXITSTATUS(status) << '\n';
}
C
gcc -O2 -pthread -o threads threads.c && ./threads
gcc -O2 -shared -fPIC -o libanswer.so lib.c
g++ -O1 -g -o host host.cc -ldl && ./host
nm -D libanswer.so | grep ' T answer' | cut -d' ' -f2-
gcc -O2 -S -o - lib.c | grep -c 'answer'
gcc -O2 -flto -o lto threads.c -pthread && ./lto
strip -o stripped threads && ./stripped
gcc -frandom-seed=1 -c -o a.o lib.c; gcc -frandom-seed=1 -c -o b.o lib.c
cmp a.o b.o && echo reproducible
echo 'int f( { }' | gcc -x c -fsyntax-only - 2>/dev/null || echo "gcc ended $?"
g++ -O1 -fsanitize=address -o sane threads.c -x c++ -fpermissive -w 2>/dev/null && ASAN_OPTIONS=detect_leaks=0 ./sane
