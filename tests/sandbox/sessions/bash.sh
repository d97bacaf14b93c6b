#!/bin/sh
# needs: bash sed awk sort tar gzip find xargs
# A shell session: pipelines, redirections, job control, traps, here-documents, archives.
set -eu
cd "$1"
exec bash -eu <<'SESSION'
set -o pipefail
echo "sum: $(seq 1 1000 | awk '{ s += $1 } END { print s }')"
mkdir -p tree/{a,b}/{x,y}
for d in tree/*/*; do printf '%s\n' "$d" > "$d/name"; done
find tree -type f | sort | xargs cat
tar -C tree -czf tree.tar.gz . && tar -tzf tree.tar.gz | LC_ALL=C sort | head -3
diff <(printf 'a\nb\n') <(printf 'a\nc\n') || echo "diff says $?"
sleep 0.2 & job=$!
wait "$job"; echo "job ended $?"
( trap 'echo trapped; exit 3' TERM; kill -TERM "$BASHPID"; sleep 5 ) || echo "subshell ended $?"
sleep 30 & kill $!; wait $! || echo "killed: $?"
set -m; sleep 0.1 & fg >/dev/null; set +m
coproc cat_it { cat; }
echo "through a coprocess" >&"${cat_it[1]}"; read -r line <&"${cat_it[0]}"; echo "$line"
eval "exec ${cat_it[1]}>&-"; wait "$cat_it_PID" || true
mkfifo pipe; (echo "through a fifo" > pipe) & cat pipe; wait
ulimit -n 256; ulimit -n
umask 027; : > masked; stat -c %a masked
touch -d '2020-02-02 02:02:02 UTC' masked; stat -c %Y masked
ln masked hard; ln -s masked soft; readlink soft; stat -c %h masked
chmod 600 masked; test -w masked && echo writable
mv hard renamed; cp -a tree copy; rm -r copy; ls
printf '%s\n' one two three | while read -r w; do echo "${#w} $w"; done
nice -n 5 true && echo niced
timeout 0.2 sleep 5 || echo "timeout says $?"
exit 0
SESSION
