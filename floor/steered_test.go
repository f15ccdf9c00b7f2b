package floor

import (
	"fmt"
	"strings"
	"testing"

	"assent/approval"
)

// Who lets an agent write in the tree, and lets tools run there, thinks of sources
// and of the tools as they are set up. That a call sets a tool up anew and runs
// it is told, and asked about.
func TestSteered(t *testing.T) {
	const allow, ask = approval.Allow, approval.Ask
	const tree = "write: {allow: [\".\"]}\n"
	tests := []struct {
		name, policy, command string
		want                  Result
	}{
		{"configuration-of-tests", tree, "printf x > conftest.py; pytest", ask},
		{"by-a-copy", tree, "cp src/x conftest.py && pytest", ask},
		{"by-a-copy-into-a-folder", tree, "cp src/conftest.py . && pytest", ask},
		{"by-a-move", tree, "mv src/x tests/conftest.py && pytest", ask},
		{"by-a-link", tree, "ln -s src/x conftest.py && pytest", ask},
		{"by-tee", tree, "echo x | tee conftest.py && pytest", ask},
		{"by-an-edit", tree, "sed -i s/a/b/ package.json && npm test", ask},
		{"by-a-here-document", tree, "cat > package.json <<E\n{}\nE\nnpm test", ask},
		{"by-a-pattern", tree, "sed -i s/a/b/ jest*.config.js && jest", ask},
		{"by-a-folder", tree, "cp -r d .storybook && storybook build", ask},
		{"by-a-folder-that-is-moved", tree + `delete: {allow: ["."]}`, "mv d .storybook && storybook build", ask},
		{"by-a-link-to-a-folder", tree, "ln -s d .storybook && storybook build", ask},
		{"by-a-folder-that-git-moves", tree + "delete: {allow: [\".\"]}\nrun: {allow: [git mv]}", "git mv d .storybook && storybook build", ask},
		{"by-a-folder-of-another-name", tree, "ln -s d docs && storybook build", allow},
		{"by-touching", tree, "touch build.rs && cargo build", ask},
		{"by-the-tool-itself", tree, "npm pkg set scripts.test=x && npm test", ask},
		{"by-an-archive", tree + "run: {allow: [tar]}", "tar xf a.tgz && make", ask},
		{"by-an-archive-of-a-module", tree + "run: {allow: [python3]}", "python3 -m zipfile -e a.zip . && pytest", ask},
		{"by-copies-of-what-is-found", tree, "find d -name '*.py' -exec cp -t . {} + && pytest", ask},
		{"by-a-copy-of-a-source", tree, "cp d/a.py . && pytest", allow},
		{"by-a-patch", tree + "run: {allow: [patch]}", "patch -p1 < a.patch && make", ask},
		{"by-a-patch-of-git", tree + "run: {allow: [git apply]}", "git apply a.patch && make", ask},
		{"by-a-download", tree + "run: {allow: [curl]}", "curl -so conftest.py https://example.com/ && pytest", ask},
		{"in-a-folder-below", tree, "echo x > sub/package.json; npm test", ask},
		{"in-a-folder-above", tree, "echo x > package.json; cd sub && npm test", ask},
		{"case-does-not-count", tree, "echo x > Package.JSON; npm test", ask},
		{"in-a-loop", tree, "for i in 1 2; do pytest; echo x > conftest.py; done", ask},
		{"in-a-loop-without-end", tree, "while true; do pytest; echo x > conftest.py; done", ask},
		{"in-a-function", tree, "f() { pytest; }; f; echo x > conftest.py; f", ask},
		{"beside-it", tree, "pytest & echo x > conftest.py", ask},
		{"in-a-shell-of-its-own", tree, `bash -c 'echo x > conftest.py'; timeout 9 pytest`, ask},
		{"in-a-trap", tree, `trap pytest EXIT; echo x > conftest.py`, ask},
		{"of-several", tree, "echo x > conftest.py; python -m pytest", ask},
		{"a-checker", tree, "echo x > eslint.config.js; eslint .", ask},
		{"a-formatter", tree, "echo x > prettier.config.js; prettier a.js", ask},
		{"types", tree, "echo x > mypy.ini; mypy src", ask},
		{"like-another-but-for-that", tree, "echo x > tsconfig.app.json; vue-tsc --noEmit", ask},
		{"the-other", tree, "echo x > tsconfig.app.json; tsc --noEmit", allow},
		{"of-what-a-runner-runs", tree, "echo x > jest.config.js; npm test", ask},
		{"of-what-a-recipe-runs", tree, "echo x > conftest.py; make test", ask},
		{"a-module-before-the-library's-own", tree, "echo x > json.py; python -m json.tool a.json", ask},
		{"a-listing-that-evaluates", tree, "echo x > mix.exs; mix help", ask},
		{"a-build", tree, "echo x > CMakeLists.txt; cmake -B build", ask},
		{"a-listing-that-runs-the-build", tree, "echo x > build.gradle; gradle dependencies", ask},
		{"a-class-names-nothing", tree + `run: {allow: ["@build"]}`, "echo x > conftest.py; pytest", ask},
		{"all-names-nothing", tree + `run: {allow: ["*"]}`, "echo x > conftest.py; pytest", ask},
		{"another-command-is-named", tree + "run: {allow: [npm test]}", "echo x > conftest.py; pytest", ask},

		// Who names the command has said that it runs what is there.
		{"named", tree + "run: {allow: [pytest]}", "echo x > conftest.py; pytest -q", allow},
		{"named-with-its-words", tree + "run: {allow: [npm test]}", "echo x > package.json; npm test", allow},
		{"named-and-the-archive", tree + "run: {allow: [tar, make]}", "tar xf a.tgz && make", allow},
		{"a-write-is-still-a-write", "run: {allow: [pytest]}", "echo x > conftest.py; pytest", ask},

		// Sources, outcomes and what comes later steer nothing.
		{"a-source", tree, "sed -i s/a/b/ src/x.go && go test ./...", allow},
		{"a-test", tree, "echo x > x_test.go; go test ./...", allow},
		{"a-source-of-another-language", tree, "echo x > src/x.ts && npm test", allow},
		{"a-file-of-another-tool", tree, "echo x > package.json; go vet ./...", allow},
		{"afterwards", tree, "pytest && sed -i s/1/2/ pyproject.toml", allow},
		{"what-the-tool-prints-into-it", tree, "npm test > package.json", ask},
		{"what-the-tool-prints", tree, "npm test 2>&1 | tee test.log | tail", allow},
		{"a-folder-for-the-build", tree, "mkdir -p build && cmake -B build", allow},
		{"formatting-first", tree, "black . && pytest", allow},
		{"fixing-first", tree, "eslint --fix . && npm test", allow},
		{"deleting", tree + `delete: {allow: ["."]}`, "rm conftest.py && pytest", allow},
		{"looking", tree, "echo x > package.json; npm ls", allow},
		{"what-version-it-is", tree, "echo x > eslint.config.js; eslint --version", allow},
		{"a-place-of-its-own", `write: {allow: [".", "/tmp/**"]}`, "cp package.json /tmp/kept/package.json && npm test", allow},
		{"history", tree + "run: {allow: [git pull]}", "git pull && make", ask},
		{"history-and-the-tool", tree + "run: {allow: [git pull, make]}", "git pull && make", allow},
		{"history-and-a-class", tree + `run: {allow: [git pull, "@build"]}`, "git pull && make", ask},
		{"installed-first", tree + "run: {allow: [npm ci]}", "npm ci && npm test", allow},
	}
	batch := testPlace
	batch.Name, batch.Arguments = "batch", []byte(`{"tool_calls":[{"tool":"bash","parameters":{"command":"pytest"}},{"tool":"write","parameters":{"filePath":"conftest.py","content":"x"}}]}`)
	if v := (&Floor{Operator: mustParse(t, tree, Operator)}).Judge(batch); v.Result != ask {
		t.Errorf("a batch of calls is %s, want ask: %s", v.Result, v.Message)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := Floor{Operator: mustParse(t, tt.policy, Operator)}
			if v := f.Judge(bash(tt.command)); v.Result != tt.want {
				t.Errorf("%s\nis %s, want %s: %s", tt.command, v.Result, tt.want, v.Message)
			}
		})
	}
}

// Files come in many ways, and most name none of them: a tool that is run behind may
// obey any of what came. Who allows both commands by name has answered that.
func TestBrought(t *testing.T) {
	const ask = approval.Ask
	brings := []string{
		"git pull", "git pull --rebase", "git -C . pull", "/usr/bin/git pull", "cd sub && git pull && cd ..", "git checkout x", "git checkout -- Makefile", "git checkout .", "git checkout -p",
		"git checkout -b x origin/x", "git switch x", "git switch -c x origin/x", "git switch -", "git restore .", "git restore -s x src", "git restore -s x Makefile", "git stash", "git stash pop", "git stash apply",
		"git stash branch x", "git cherry-pick x", "git revert --no-edit HEAD", "git rebase x", "git merge x", "git reset --hard x", "git reset --keep x", "git am a.patch", "git am --continue", "git apply a.patch",
		"git worktree add sub/x", "git submodule update --init", "git submodule add https://example.com/x", "git sparse-checkout set x", "git read-tree -um HEAD", "git read-tree -u --reset HEAD", "git checkout-index -a",
		"git checkout-index -a --prefix=sub/", "git bisect start", "git bisect bad", "git bisect reset", "git lfs pull", "git subtree pull -P x r b", "git svn rebase", "git clone https://example.com/x", "git clone x sub/y",
		"git filter-branch", "git merge-one-file", "git of-an-alias", "git archive x | tar x", "git show x:Makefile > Makefile",
		"hg pull -u", "hg update", "hg up x", "hg import a.patch", "hg merge", "hg graft x", "hg unshelve", "hg revert -a", "hg clone x", "hg mv a b", "hg of-an-alias",
		"svn update", "svn up", "svn checkout https://example.com/x", "svn co https://example.com/x .", "svn export https://example.com/x", "svn switch x", "svn merge x", "svn patch a", "svn revert -R .", "svn mv a b",
		"jj new x", "jj edit x", "jj restore", "jj undo", "jj op restore x", "jj git clone x", "fossil update", "fossil open a", "bzr pull", "brz update",
		"gh pr checkout 3", "gh repo clone x/y", "gh run download", "gh run download -D sub", "gh release download", "gh release download -D sub", "ditto a sub", "mount --bind a sub", "glab mr checkout 3", "hub pr checkout 3",
		"tar xf a", "unzip a", "7z x a", "cpio -i < a", "cpio -p . < l", "cpio -p sub < l", "pax -r -f a", "jar xf a", "dpkg-deb -x a .", "patch -p1 < a",
		"rsync -a a/ .", "rsync -a host:a/ .", "scp -r host:a .", "cp -r a/. .", "mv a/Makefile .", "ln -s a/Makefile .", "install a/Makefile .", "stow a",
		"rename s/x/Makefile/ x", "mmv 'a*' '#1'", "curl -o Makefile https://example.com/x", "wget -r https://example.com/", "wget -i l", "wget --content-disposition https://example.com/x", "aria2c -i l",
		"docker cp c:/x .", "podman cp c:/x Makefile", "kubectl cp c:/x .", "aws s3 sync s3://x .", "gsutil rsync gs://x .", "rclone copy r:x .", "degit x/y", "pip install -t . x", "uv pip install --target . x", "composer create-project x/y .",
		"sed -i s/x/y/ Makefile", "git mv a Makefile",
	}
	rest := []string{
		"git fetch", "git status", "git add .", "git commit -m x", "git checkout -b x", "git switch -c x", "git reset", "git reset HEAD x", "git reset --soft HEAD~", "git branch x", "git stash list", "git stash drop", "git log -p",
		"git restore --staged Makefile", "git restore src/x.c", "git checkout HEAD -- src/x.c", "git read-tree HEAD", "git push", "git tag x", "git remote update", "git -C /elsewhere pull", "git --version", "git pull --help",
		"hg add a", "hg commit -m x", "hg incoming", "svn add a", "svn commit -m x", "jj describe -m x", "gh release download -O x.c", "gh pr view 3", "gh pr list",
		"tar cf a x", "tar czf a.tgz x", "tar xf a -C /elsewhere", "wget https://example.com/x.c", "curl -O https://example.com/x.c", "npm ci", "npm install x", "pip install x", "pip install -r requirements.txt",
	}
	rules := `write: {allow: [".", "/elsewhere/**"]}
read: {allow: ["/elsewhere/**"]}
run: {allow: ["@look", "@repo", "@discard", "@rewrite", "@fetch", "@send", "@edit", "@install", "@remote", "@cloud", "@service", "@system", "@code", "git *", "hg *", "svn *", "jj *", hub, patch, tar%s]}
`
	judge := func(command, more string) (asks bool) {
		f := Floor{Operator: mustParse(t, fmt.Sprintf(rules, more), Operator)}
		for _, e := range f.Judge(bash(command)).Effects {
			asks = asks || strings.HasPrefix(e.Target, "make obeys ") && e.Result == ask
		}
		return asks
	}
	for _, command := range brings {
		if !judge(command+" && make", "") {
			t.Errorf("%s: what make obeys behind it is not asked about", command)
		}
		if judge("make; "+command, "") {
			t.Errorf("%s: what make obeys before it is asked about", command)
		}
		if judge(command+" && make", ", make") {
			t.Errorf("%s: who names make is asked about what it obeys", command)
		}
	}
	for _, command := range rest {
		if judge(command+" && make", "") {
			t.Errorf("%s: it brings nothing that make obeys", command)
		}
	}
}
