#!/bin/sh
# needs: git
# Worktrees, commits in them, an interactive rebase, cherry-picks, bisection, a submodule.
set -eu
. "$(dirname "$0")/places.inc"
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=C
export GIT_COMMITTER_EMAIL=c@example.com GIT_PAGER=cat GIT_EDITOR=true
export GIT_AUTHOR_DATE='2024-01-02T03:04:05Z' GIT_COMMITTER_DATE='2024-01-02T03:04:05Z'
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git init -q repo
cd repo
for i in 1 2 3 4 5 6 7 8; do echo "$i" >> f; git add f; git commit -qm "commit $i"; done
git worktree add -q -b side ../wt HEAD~3
cd ../wt
cat .git | sed "s,$1,WORK,"
git worktree list | sed "s,$1,WORK,"
for i in 1 2 3; do echo "$i" >> s; git add s; git commit -qm "side $i"; done; git status --short --branch
GIT_SEQUENCE_EDITOR="sed -i '2s/pick/fixup/'" git rebase -q -i HEAD~3 2>&1
git log --format='%h %s'
git rebase -q main 2>&1; git log --oneline | head -3
git cherry-pick -x HEAD~9 >/dev/null 2>&1 || echo "conflict, $?"
git cherry-pick --abort; git status --short
cd ../repo
git merge -q --no-ff --no-edit side; git log --graph --oneline | head -6
git worktree remove --force ../wt; git worktree prune; git worktree list | wc -l
git bisect start main~1 main~7 >/dev/null 2>&1
git bisect run sh -c 'test "$(wc -l < f)" -lt 5' 2>&1 | grep 'is the first bad commit'
git bisect reset 2>&1 | tail -1
git submodule --quiet add ../repo sub 2>&1; git commit -qm sub; git submodule status | cut -c2-9
git gc -q --prune=now; git fsck --no-progress; git format-patch -q -2; ls ./*.patch
