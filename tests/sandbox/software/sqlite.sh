#!/bin/sh
# needs: sqlite3
# A database in WAL mode and in rollback mode, with two connections, a backup and a dump.
set -eu
. "$(dirname "$0")/places.inc"
sqlite3 a.db 'pragma journal_mode=wal; create table t(a integer primary key, b text);'
sqlite3 a.db "with recursive n(i) as (select 1 union all select i+1 from n where i<5000) insert into t select i, hex(i) from n; select count(*), sum(a) from t;"
(for i in 1 2 3 4 5; do sqlite3 a.db ".timeout 5000" "insert into t(b) values ('w$i');"; done) &
for i in 1 2 3 4 5; do sqlite3 a.db ".timeout 5000" "insert into t(b) values ('v$i');"; done
wait
sqlite3 a.db 'select count(*) from t; pragma integrity_check; create index i on t(b); analyze; vacuum;'
sqlite3 a.db '.backup b.db' && sqlite3 b.db 'select count(*) from t;' 'pragma journal_mode=delete;'
sqlite3 b.db 'begin immediate; delete from t where a > 10; rollback; select count(*) from t;'
sqlite3 b.db .dump | head -5
sqlite3 :memory: "create virtual table f using fts5(x); insert into f values ('one two'); select * from f where f match 'two';"
