package shell

import (
	"strings"
	"sync"

	"assent/floor/commands"
	"assent/floor/effect"
)

// kept are the variables that name where programs keep what they write: caches,
// temporary and built files, installations, logs. With each stand the places it
// names when nobody sets it; to name one of those changes nothing. "~/x" and "/x"
// are such a place, "x" is one of that name anywhere in the workspace.
//
// A name of the list that also says which code runs (CARGO_HOME, BUNDLE_PATH) is
// in steering as well and told twice: as what steers and as what is written.
var kept = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(`
		TMPDIR /tmp /var/tmp
		TMP /tmp /var/tmp
		TEMP /tmp /var/tmp
		TEMPDIR /tmp /var/tmp
		SQLITE_TMPDIR /tmp /var/tmp
		TMUX_TMPDIR /tmp
		XDG_CACHE_HOME ~/.cache
		XDG_CONFIG_HOME ~/.config
		XDG_DATA_HOME ~/.local/share
		XDG_STATE_HOME ~/.local/state
		XDG_BIN_HOME ~/.local/bin
		XDG_RUNTIME_DIR
		GOCACHE ~/.cache/go-build ~/Library/Caches/go-build
		GOMODCACHE ~/go/pkg/mod
		GOPATH ~/go
		GOBIN ~/go/bin
		GOTMPDIR /tmp /var/tmp
		GOCOVERDIR
		GOLANGCI_LINT_CACHE ~/.cache/golangci-lint ~/Library/Caches/golangci-lint
		STATICCHECK_CACHE ~/.cache/staticcheck ~/Library/Caches/staticcheck
		GOPLSCACHE ~/.cache/gopls ~/Library/Caches/gopls
		CARGO_HOME ~/.cargo
		CARGO_TARGET_DIR target
		CARGO_BUILD_TARGET_DIR target
		CARGO_BUILD_BUILD_DIR target
		CARGO_LLVM_COV_TARGET_DIR target
		CARGO_INSTALL_ROOT ~/.cargo
		RUSTUP_HOME ~/.rustup
		SCCACHE_DIR ~/.cache/sccache ~/Library/Caches/Mozilla.sccache
		WASM_PACK_CACHE ~/.cache/.wasm-pack
		npm_config_cache ~/.npm
		npm_config_tmp /tmp
		npm_config_prefix
		npm_config_logs_dir ~/.npm/_logs
		npm_config_cache_dir
		npm_config_state_dir
		npm_config_store_dir
		npm_config_modules_dir node_modules
		npm_config_virtual_store_dir
		npm_config_lockfile_dir
		npm_config_global_dir
		npm_config_global_bin_dir
		npm_config_pack_destination
		YARN_CACHE_FOLDER
		YARN_GLOBAL_FOLDER ~/.yarn/berry
		YARN_INSTALL_STATE_PATH
		YARN_VIRTUAL_FOLDER
		YARN_DEFERRED_VERSION_FOLDER
		PNPM_HOME ~/.local/share/pnpm ~/Library/pnpm
		COREPACK_HOME ~/.cache/node/corepack
		BUN_INSTALL ~/.bun
		BUN_INSTALL_CACHE_DIR ~/.bun/install/cache
		BUN_RUNTIME_TRANSPILER_CACHE_PATH
		DENO_DIR ~/.cache/deno ~/Library/Caches/deno
		DENO_INSTALL_ROOT ~/.deno/bin
		NVM_DIR ~/.nvm
		VOLTA_HOME ~/.volta
		FNM_DIR ~/.local/share/fnm
		NODE_COMPILE_CACHE
		NODE_V8_COVERAGE coverage/tmp
		NODE_REPL_HISTORY ~/.node_repl_history
		PLAYWRIGHT_BROWSERS_PATH ~/.cache/ms-playwright ~/Library/Caches/ms-playwright
		CYPRESS_CACHE_FOLDER ~/.cache/Cypress ~/Library/Caches/Cypress
		NX_CACHE_DIRECTORY .nx/cache
		PIP_CACHE_DIR ~/.cache/pip ~/Library/Caches/pip
		PIP_LOG
		PIP_TARGET
		PIP_PREFIX
		PIP_ROOT
		PIP_SRC
		PIP_BUILD
		PIP_DEST
		PIP_WHEEL_DIR
		PIP_REPORT
		UV_CACHE_DIR ~/.cache/uv
		UV_TOOL_DIR ~/.local/share/uv/tools
		UV_TOOL_BIN_DIR ~/.local/bin
		UV_INSTALL_DIR ~/.local/bin
		UV_PYTHON_INSTALL_DIR ~/.local/share/uv/python
		UV_PYTHON_BIN_DIR ~/.local/bin
		UV_PROJECT_ENVIRONMENT .venv
		POETRY_HOME ~/.local/share/pypoetry
		POETRY_CACHE_DIR ~/.cache/pypoetry ~/Library/Caches/pypoetry
		POETRY_DATA_DIR ~/.local/share/pypoetry
		POETRY_VIRTUALENVS_PATH ~/.cache/pypoetry/virtualenvs
		WORKON_HOME ~/.local/share/virtualenvs ~/.virtualenvs
		PIPENV_CACHE_DIR ~/.cache/pipenv
		PIPX_HOME ~/.local/share/pipx ~/.local/pipx
		PIPX_BIN_DIR ~/.local/bin
		PIPX_MAN_DIR ~/.local/share/man
		PYENV_ROOT ~/.pyenv
		PYTHONUSERBASE ~/.local
		PYTHONPYCACHEPREFIX
		PYTHON_HISTORY ~/.python_history
		RUFF_CACHE_DIR .ruff_cache
		MYPY_CACHE_DIR .mypy_cache
		BLACK_CACHE_DIR ~/.cache/black
		PYLINTHOME ~/.cache/pylint
		PYTEST_DEBUG_TEMPROOT /tmp /var/tmp
		PRE_COMMIT_HOME ~/.cache/pre-commit
		COVERAGE_FILE .coverage
		TOX_WORK_DIR .tox
		CONDA_PKGS_DIRS
		CONDA_ENVS_PATH
		CONDA_ENVS_DIRS
		MAMBA_ROOT_PREFIX
		HF_HOME ~/.cache/huggingface
		HF_HUB_CACHE ~/.cache/huggingface/hub
		HUGGINGFACE_HUB_CACHE ~/.cache/huggingface/hub
		TORCH_HOME ~/.cache/torch
		NLTK_DATA ~/nltk_data
		MPLCONFIGDIR ~/.config/matplotlib
		IPYTHONDIR ~/.ipython
		JUPYTER_CONFIG_DIR ~/.jupyter
		JUPYTER_RUNTIME_DIR ~/.local/share/jupyter/runtime
		GRADLE_USER_HOME ~/.gradle
		MAVEN_USER_HOME ~/.m2
		IVY_HOME ~/.ivy2
		LEIN_HOME ~/.lein
		KONAN_DATA_DIR ~/.konan
		ANDROID_USER_HOME ~/.android
		NUGET_PACKAGES ~/.nuget/packages
		NUGET_SCRATCH /tmp/NuGetScratch
		NUGET_HTTP_CACHE_PATH ~/.local/share/NuGet/http-cache
		NUGET_PLUGINS_CACHE_PATH ~/.local/share/NuGet/plugin-cache
		DOTNET_CLI_HOME ~
		DOTNET_BUNDLE_EXTRACT_BASE_DIR ~/.net
		BUNDLE_PATH vendor/bundle
		BUNDLE_BIN
		BUNDLE_APP_CONFIG .bundle
		BUNDLE_USER_HOME ~/.bundle
		BUNDLE_USER_CACHE ~/.bundle/cache
		BUNDLE_CACHE_PATH vendor/cache
		GEM_HOME
		GEM_SPEC_CACHE ~/.gem/specs
		RUBOCOP_CACHE_ROOT ~/.cache/rubocop_cache
		COMPOSER_HOME ~/.config/composer ~/.composer
		COMPOSER_CACHE_DIR ~/.cache/composer ~/.composer/cache
		COMPOSER_VENDOR_DIR vendor
		COMPOSER_BIN_DIR vendor/bin
		CCACHE_DIR ~/.cache/ccache ~/.ccache
		CCACHE_TEMPDIR
		DISTCC_DIR ~/.distcc
		CPM_SOURCE_CACHE
		VCPKG_DEFAULT_BINARY_CACHE ~/.cache/vcpkg/archives
		VCPKG_DOWNLOADS
		CONAN_HOME ~/.conan2
		CONAN_USER_HOME ~
		EM_CACHE
		ZIG_GLOBAL_CACHE_DIR ~/.cache/zig
		ZIG_LOCAL_CACHE_DIR .zig-cache zig-cache
		DESTDIR
		GCOV_PREFIX
		GCOV_ERROR_FILE
		GMON_OUT_PREFIX
		CPUPROFILE
		HEAPPROFILE
		PERLIO_DEBUG
		ERL_CRASH_DUMP
		GTEST_OUTPUT
		XML_OUTPUT_FILE
		GOTESTSUM_JSONFILE
		GOTESTSUM_JUNITFILE
		JEST_JUNIT_OUTPUT_NAME
		MOCHA_FILE
		MOCHAWESOME_REPORTDIR
		PLAYWRIGHT_HTML_REPORT playwright-report
		PLAYWRIGHT_HTML_OUTPUT_DIR playwright-report
		NODE_REDIRECT_WARNINGS
		C8_TEMP coverage/tmp
		NOX_ENVDIR .nox
		QLOGDIR
		GITHUB_ENV
		GITHUB_OUTPUT
		GITHUB_STEP_SUMMARY
		BORG_BASE_DIR
		RCLONE_BACKUP_DIR
		CABAL_BUILDDIR dist-newstyle
		DUNE_BUILD_DIR _build
		STACK_WORK .stack-work
		NIMBLE_DIR ~/.nimble
		VMODULES ~/.vmodules
		VCACHE
		VTMP
		REBAR_BASE_DIR _build
		MIX_ARCHIVES ~/.mix/archives
		SWIFTPM_TESTS_MODULECACHE
		PKGDEST
		SRCDEST
		LOGDEST
		BUILDDIR
		N_PREFIX
		SDKMAN_DIR ~/.sdkman
		RBENV_ROOT ~/.rbenv
		NODENV_ROOT ~/.nodenv
		GOENV_ROOT ~/.goenv
		ASDF_DIR ~/.asdf
		VIRTUALENV_OVERRIDE_APP_DATA ~/.local/share/virtualenv
		LYNX_TEMP_SPACE /tmp
		DUCKDB_HISTORY ~/.duckdb_history
		JULIA_HISTORY
		DPKG_ROOT
		DPKG_ADMINDIR
		LLVM_PROFILE_FILE
		DEPENDENCIES_OUTPUT
		SUNPRO_DEPENDENCIES
		MALLOC_TRACE
		SSLKEYLOGFILE
		TEST_TMPDIR
		TF_DATA_DIR .terraform
		TF_PLUGIN_CACHE_DIR ~/.terraform.d/plugin-cache
		TF_LOG_PATH
		TERRAGRUNT_DOWNLOAD .terragrunt-cache
		HELM_CACHE_HOME ~/.cache/helm
		HELM_CONFIG_HOME ~/.config/helm
		HELM_DATA_HOME ~/.local/share/helm
		HELM_REPOSITORY_CACHE ~/.cache/helm/repository
		KREW_ROOT ~/.krew
		KUBECACHEDIR ~/.kube/cache
		PULUMI_HOME ~/.pulumi
		VAGRANT_HOME ~/.vagrant.d
		PACKER_CACHE_DIR packer_cache
		MINIKUBE_HOME ~/.minikube ~
		DOCKER_CONFIG ~/.docker
		ANSIBLE_HOME ~/.ansible
		ANSIBLE_LOCAL_TEMP ~/.ansible/tmp
		ANSIBLE_LOG_PATH
		ANSIBLE_RETRY_FILES_SAVE_PATH
		HOMEBREW_CACHE ~/.cache/Homebrew ~/Library/Caches/Homebrew
		HOMEBREW_TEMP /tmp /private/tmp
		HOMEBREW_LOGS ~/.cache/Homebrew/Logs ~/Library/Logs/Homebrew
		GNUPGHOME ~/.gnupg
		MIX_HOME ~/.mix
		HEX_HOME ~/.hex
		MIX_BUILD_PATH _build
		MIX_BUILD_ROOT _build
		MIX_DEPS_PATH deps
		STACK_ROOT ~/.stack
		CABAL_DIR ~/.cabal
		OPAMROOT ~/.opam
		PUB_CACHE ~/.pub-cache
		JULIA_DEPOT_PATH ~/.julia
		R_LIBS_USER
		ASDF_DATA_DIR ~/.asdf
		MISE_DATA_DIR ~/.local/share/mise
		TEXMFHOME ~/texmf
		TEXMFVAR
		TEXMFCACHE
		TEXMFOUTPUT
		HISTFILE ~/.bash_history ~/.zsh_history
		LESSHISTFILE ~/.lesshst ~/.local/state/lesshst
		SQLITE_HISTORY ~/.sqlite_history
		MYSQL_HISTFILE ~/.mysql_history
		PSQL_HISTORY ~/.psql_history
		CLAUDE_CONFIG_DIR ~/.claude
		CODEX_HOME ~/.codex
		CLOUDSDK_CONFIG ~/.config/gcloud
		AZURE_CONFIG_DIR ~/.azure
	`) {
		if f := strings.Fields(line); len(f) > 0 {
			m[f[0]] = f[1:]
		}
	}
	return m
})

// keptBy are endings of names that no list knows and that say the same. They
// count for what a program is given, and only with a value that is a path:
// scripts use such names for themselves.
var keptBy = []string{"CACHE", "CACHE_DIR", "CACHEDIR", "CACHE_HOME", "CACHE_PATH", "CACHE_FOLDER", "CACHE_ROOT", "CACHE_DIRECTORY", "CACHE_LOCATION",
	"TMPDIR", "TMP_DIR", "TEMPDIR", "TEMP_DIR", "TARGET_DIR", "OUTPUT_DIR", "OUT_DIR", "OUTDIR", "INSTALL_DIR", "INSTALL_ROOT", "INSTALL_PREFIX",
	"OUTPUT_FILE", "OUTPUT_NAME", "REPORT_DIR", "REPORTDIR", "REPORT_FILE", "RESULTS_DIR", "RESULTS_FILE", "BACKUP_DIR", "DEBUGDIR", "BUILD_DIR", "STATS_LOG", "ARTIFACTS_DIR",
	"DATA_DIR", "STATE_DIR", "LOG_DIR", "LOGDIR", "LOG_FILE", "LOGFILE", "LOG_PATH", "OUTPUT_DIRECTORY", "STORAGE_DIRECTORY", "HISTFILE", "HISTORY_FILE", "DOWNLOAD_DIR"}

// several are the variables whose value may be several folders, and what is between them.
var several = map[string]string{"GOPATH": ":", "JULIA_DEPOT_PATH": ":", "CONDA_ENVS_PATH": ":", "CONDA_PKGS_DIRS": ",", "CONDA_ENVS_DIRS": ":"}

// keeper gives the name by which kept knows a variable: npm reads its own in any case.
func keeper(name string) string {
	if lower := strings.ToLower(name); strings.HasPrefix(lower, "npm_config_") {
		return strings.ReplaceAll(lower, "-", "_")
	}
	return name
}

// onlyPassed are names that scripts use for what they like: a program must have been given them.
func onlyPassed(name string) bool { return name == "TMP" || name == "TEMP" || name == "TEMPDIR" }

// keep tells a variable that names where a program writes as a write there. It
// reports whether that is where the program writes anyway: then there is
// nothing to tell of the variable at all.
func (r *reader) keep(name, value string, span effect.Span, cmd *effect.Command, w *world, passed bool) (usual bool) {
	name = keeper(name)
	places, known := kept()[name]
	switch {
	case known && !passed && onlyPassed(name):
		return false
	case known && !pathish(value) && turnsOff(value):
		return false
	case !known && (!passed || !pathish(value) || !keptByName(name)):
		return false
	}
	if name == "GTEST_OUTPUT" { // xml:FILE
		_, value, _ = strings.Cut(value, ":")
	}
	folders := []string{value}
	if sep := several[name]; sep != "" {
		folders = strings.Split(value, sep)
	}
	usual = true
	for _, f := range folders {
		if f == "" || r.usual(f, places, w) || r.place.Vars[name] == f {
			continue
		}
		usual = false
		p := r.place.Prepare(abstract(f), w.cwd)
		if p.Inside() && !p.Glob && p.Named == "" && built(p.Rel) {
			continue
		}
		r.path(pathEffect{kind: effect.Write, text: f, span: span, cmd: cmd, option: name}, w)
	}
	return usual
}

// keptIn tells an option that nobody described, of a program whose other options
// have no effect, by its name: one that says as the names of variables do where
// the program keeps what it writes is no harmless text.
func (t *typed) keptIn(u *commands.Use, ws []word) {
	name, value, valued := u.Name, u.Value, u.Valued
	if !valued { // -name=value
		name, value, valued = strings.Cut(name, "=")
	}
	if !keptByName(snake(strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_"))) {
		return
	}
	span := ws[0].span
	if !valued {
		if len(ws) < 2 || strings.HasPrefix(ws[1].text, "-") {
			return
		}
		value, span = ws[1].text, ws[1].span
	}
	if pathish(value) {
		t.outdir(value, span, name)
	}
}

// snake writes cacheDirectory as cache_Directory.
func snake(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && c >= 'A' && c <= 'Z' && name[i-1] >= 'a' && name[i-1] <= 'z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// moveKept tells anew where programs write once the folder is another one, for
// the variables that name a place from where the program runs.
func (r *reader) moveKept(w *world, span effect.Span) {
	for name, v := range w.vars.all() {
		if _, known := kept()[keeper(name)]; !known || v.unset || v.array || v.text == "" || !commands.Known(v.text) || strings.HasPrefix(v.text, "/") {
			continue
		}
		r.keep(name, v.text, span, nil, w, v.exported)
	}
}

// usual reports whether a folder is one of the places that a program uses when
// nobody names one.
func (r *reader) usual(folder string, places []string, w *world) bool {
	p := r.place.Prepare(abstract(folder), w.cwd)
	if !p.Known() || p.Glob || p.Named != "" {
		return false
	}
	for _, at := range places {
		switch at[0] {
		case '~', '/':
			if !r.alienHome(at, w) && r.place.Prepare(r.place.Expand(at), "/").Abs == p.Abs {
				return true
			}
		default:
			if in, is := strings.CutSuffix(p.Rel, at); is && p.Inside() && (in == "" || in[len(in)-1] == '/' && in[0] != '.' && !strings.Contains(in, "/.")) {
				return true
			}
		}
	}
	return false
}

// alienHome reports whether a place in the home folder is another one here.
func (r *reader) alienHome(at string, w *world) bool {
	_, moved := w.vars.get("HOME")
	return at[0] == '~' && moved
}

// abstract is a text with every mark that a path does not know as one it does.
func abstract(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, commands.Words, commands.Unknown), commands.Number, commands.Star)
}

func keptByName(name string) bool {
	name = strings.ToUpper(name)
	if strings.HasPrefix(name, "GIT_TRACE") {
		return true
	}
	for _, end := range keptBy {
		if rest, is := strings.CutSuffix(name, end); is && (rest == "" || rest[len(rest)-1] == '_') {
			return true
		}
	}
	return false
}

// pathish reports whether a value is a path rather than a word, or may be one.
func pathish(v string) bool {
	if strings.Contains(v, "://") {
		return false
	}
	return !commands.Known(v) || strings.HasPrefix(v, ".") || strings.ContainsAny(v, "/~") || strings.Contains(v, commands.Temp)
}

func turnsOff(v string) bool {
	switch strings.ToLower(v) {
	case "", "off", "on", "0", "1", "true", "false", "none", "no", "yes", "-":
		return true
	}
	return false
}
