#!/bin/sh
# needs: make gcc ar
# A parallel build with generated sources, a library, an incremental rebuild and a failing target.
set -eu
cd "$1"
mkdir src
for i in 1 2 3 4 5 6 7 8; do
  printf 'int part%s(void) { return %s; }\n' "$i" "$i" > "src/part$i.c"
done
cat > src/main.c <<'C'
#include <stdio.h>
int part1(void), part2(void), part3(void), part4(void);
int part5(void), part6(void), part7(void), part8(void);
int main(void) {
  printf("%d\n", part1() + part2() + part3() + part4() + part5() + part6() + part7() + part8());
  return 0;
}
C
cat > Makefile <<'M'
PARTS := $(patsubst src/%.c,build/%.o,$(wildcard src/part*.c))
all: build/program
build/%.o: src/%.c | build
	@gcc -O1 -c -o $@ $<
build:
	@mkdir -p $@
build/libparts.a: $(PARTS)
	@rm -f $@; ar rcD $@ $(sort $^)
build/program: src/main.c build/libparts.a
	@gcc -O1 -o $@ $< -Lbuild -lparts
broken:
	@exit 7
.PHONY: all broken
M
make -j4 --no-print-directory
./build/program
ar t build/libparts.a
make -j4 --no-print-directory
sleep 1.1
printf 'int part8(void) { return 80; }\n' > src/part8.c
make -j4 --no-print-directory
./build/program
make --no-print-directory broken 2>/dev/null || echo "make ended $?"
make -s clean 2>/dev/null || echo "no rule: $?"
