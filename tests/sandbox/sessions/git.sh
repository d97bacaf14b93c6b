#!/bin/sh
# needs: git
# A repository's life: commits, branches, a merge, a conflict, a rebase, clone, fetch, gc, hooks.
set -eu
cd "$1"
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=C
export GIT_COMMITTER_EMAIL=c@example.com GIT_PAGER=cat GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_DATE='2024-01-02T03:04:05Z' GIT_COMMITTER_DATE='2024-01-02T03:04:05Z'
git init -q -b main repo
cd repo
git config gc.auto 0
for i in 1 2 3 4 5; do
  seq 1 "$((i * 10))" > "file$i"; git add -A; git commit -q -m "commit $i"
done
git log --format='%h %s' --stat
git switch -q -c topic; echo topic >> file1; git commit -qam topic
git switch -q main; echo main > other; git add other; git commit -qm other
git merge -q --no-edit topic; git log --oneline --graph
git switch -q -c clash HEAD~1; echo clash > other; git add other
git commit -qm clash || true
git merge -q main >/dev/null 2>&1 || echo "merge ended $?"
git merge --abort 2>/dev/null || true
git status --short | sort
printf '#!/bin/sh\necho "hook ran"\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit
git switch -q main; echo hooked > hooked; git add hooked; git commit -qm hooked 2>&1
git tag -a v1 -m 'version one'; git describe
git gc -q; git fsck --strict --no-progress; git count-objects -v | grep -E 'count|in-pack'
cd ..
git clone -q --no-local repo copy 2>&1; git -C copy log -1 --format=%H
git -C repo rev-parse HEAD
echo more > copy/more; git -C copy add more; git -C copy commit -qm more
git -C repo fetch -q ../copy main 2>&1; git -C repo log -1 --format='%h %s' FETCH_HEAD
git -C repo archive --format=tar HEAD | sha256sum
git -C repo grep -n 17 -- file3
git -C repo blame -s file1 | head -2
git -C repo stash list; echo dirty > repo/file2; git -C repo stash -q; git -C repo stash list
