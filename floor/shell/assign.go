package shell

import (
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"

	"mvdan.cc/sh/v3/syntax"
)

// right is the right side of an assignment, and its subscript, expanded.
type right struct {
	text, index string
	elements    []string
	lost        bool // the elements cannot be told
}

// assign follows NAME=value, NAME+=value, NAME[i]=value and NAME=(...).
func (r *reader) assign(a *syntax.Assign, w *world, export bool) {
	if a.Name != nil {
		r.store(a, r.evaluate(a, w), w, export)
	}
}

// evaluate expands what is assigned.
func (r *reader) evaluate(a *syntax.Assign, w *world) (e right) {
	span := r.spans.span(a)
	if a.Index != nil {
		e.index = r.arithm(a.Index, w)
		if word, isWord := a.Index.(*syntax.Word); isWord {
			r.subscript("["+r.value(word, w), span)
		}
		if !digits(e.index) || strings.HasPrefix(e.index, "-") {
			r.fails(w)
		}
	}
	if a.Array == nil {
		e.text = r.assigned(a.Value, w)
		return e
	}
	for _, el := range a.Array.Elems {
		if el.Index != nil {
			if word, isWord := el.Index.(*syntax.Word); isWord {
				r.subscript("["+r.value(word, w), span)
			}
			r.arithm(el.Index, w)
			e.lost = true
		}
		if el.Value == nil {
			continue
		}
		for _, f := range r.fields(el.Value, w) {
			if strings.Contains(f, commands.Words) || commands.Globbed(f) {
				// One pattern may be any number of elements.
				e.lost = e.lost || len(a.Array.Elems) > 1
			}
			e.elements = append(e.elements, f)
		}
	}
	return e
}

// store puts what was expanded into the variable.
func (r *reader) store(a *syntax.Assign, e right, w *world, export bool) {
	name := a.Name.Value
	span := r.spans.span(a)
	if a.Index != nil || a.Array != nil {
		r.tabled(name, span)
	}
	if a.Index != nil {
		text := e.text
		v := w.vars.at(name)
		if v.integer {
			r.number(text, span, w)
			text = commands.Number
		}
		if e.index == "0" && !v.array {
			w.set(name, text)
		} else {
			w.setVar(name, anyElements(v, text == "" || digits(text)))
		}
		r.steer(name, text, span, nil, w)
		return
	}
	if a.Array != nil {
		old := w.vars.at(name)
		v := variable{array: true, integer: old.integer}
		numbers := true
		if a.Append {
			numbers = old.numeric()
			v.list, v.lost = append(v.list, old.list...), old.lost
			if !old.array && old.text != "" {
				v.list = []string{old.text}
			}
			if _, known := w.vars.get(name); !known {
				v.lost = true
			}
		}
		v.lost = v.lost || e.lost
		for _, f := range e.elements {
			if v.integer {
				r.number(f, span, w)
				f = commands.Number
			}
			numbers = numbers && (f == "" || digits(f))
			v.list = append(v.list, f)
		}
		if len(v.list) > maxFields {
			v.list, v.lost = nil, true
		}
		if v.lost {
			v.list, v.text, v.numbers = nil, commands.Unknown, numbers
		}
		r.steer(name, commands.Unknown, span, nil, w)
		w.setVar(name, v)
		return
	}
	text := e.text
	if a.Append {
		r.differs(posix)
		old, known := r.lookup(name, w)
		switch {
		case old.array:
			if old.integer {
				r.number(text, span, w)
				text = commands.Number
			}
			w.setVar(name, anyElements(old, text == "" || digits(text)))
			return
		case !known:
			text = commands.Unknown
		case w.vars.at(name).integer: // added, not joined
			r.number(text, span, w)
			text = commands.Number
		default:
			text = old.text + text
		}
		if len(text) > maxKnown {
			text = commands.Unknown
		}
	}
	r.assignVar(w, name, text, span)
	if export || w.exportAll {
		w.mark(name, func(v *variable) { v.exported = true })
		r.pass(name, text, span, nil, w)
	}
}

// computedBy are the variables that the shell computes itself: what is assigned
// is not what is read.
var computedBy = map[string]bool{"PWD": true, "BASHOPTS": true, "SHELLOPTS": true, "_": true, "RANDOM": true, "SRANDOM": true, "SECONDS": true,
	"LINENO": true, "BASHPID": true, "UID": true, "EUID": true, "PPID": true, "FUNCNAME": true, "GROUPS": true, "DIRSTACK": true, "HISTCMD": true,
	"BASH_COMMAND": true, "BASH_SUBSHELL": true, "BASH_ARGV0": true, "BASH_ARGV": true, "BASH_ARGC": true, "BASH_SOURCE": true, "BASH_LINENO": true,
	"PIPESTATUS": true, "EPOCHSECONDS": true, "EPOCHREALTIME": true, "BASH_REMATCH": true, "COMP_WORDBREAKS": true}

// constants are variables that the shell never lets anybody assign.
var constants = map[string]bool{"UID": true, "EUID": true, "PPID": true, "BASHOPTS": true, "SHELLOPTS": true, "BASH_VERSINFO": true}

// assignVar follows an assignment of the shell itself.
func (r *reader) assignVar(w *world, name, text string, span effect.Span) {
	r.give(w, name, text, span)
	r.steer(name, text, span, nil, w)
}

// give gives a variable a text, as far as it takes one.
func (r *reader) give(w *world, name, text string, span effect.Span) {
	old := w.vars.at(name)
	switch name {
	case "RANDOM", "SECONDS", "SRANDOM", "LINENO", "OPTIND", "HISTCMD", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "BASH_SUBSHELL":
		r.number(text, span, w)
	}
	if zshNumbers[name] {
		r.count(text, span)
	}
	if computedBy[name] {
		text = commands.Unknown
	}
	if w.refs.has(name) {
		r.opaque(span, "a variable that stands for another one is assigned")
	}
	if old.readonly || constants[name] {
		r.mayFail++
		r.fails(w)
		r.aborts = true
		return
	}
	if old.integer {
		r.number(text, span, w)
		if !isNumber(text) || octal(text) {
			text = commands.Number
		}
	}
	if old.folded {
		text = lost(text)
	}
	if old.array { // its first element
		v := anyElements(old, text == "" || digits(text))
		v.exported = old.exported
		w.setVar(name, v)
		return
	}
	w.set(name, text)
	if w.exportAll {
		w.mark(name, func(v *variable) { v.exported = true })
	}
}

// steer tells an assignment of a variable that changes what a later program
// does, unless the value is one that turns something off.
func (r *reader) steer(name, value string, span effect.Span, cmd *effect.Command, w *world) {
	if w.exported(name) {
		r.pass(name, value, span, cmd, w)
		return
	}
	r.names(name, value, Steers(name), span, cmd, w, false)
}

// pass tells a variable that a program gets in its environment. There a name
// counts that only looks as if it named code or configuration.
func (r *reader) pass(name, value string, span effect.Span, cmd *effect.Command, w *world) {
	r.names(name, value, Steers(name) || suspicious(name), span, cmd, w, true)
}

// names tells a variable: where it lets programs write, and that it steers.
func (r *reader) names(name, value string, steers bool, span effect.Span, cmd *effect.Command, w *world, passed bool) {
	if r.keep(name, value, span, cmd, w, passed) {
		return
	}
	if steers && !quiets(name, value) {
		r.add(effect.Effect{Kind: effect.Env, Target: name, Span: span, Command: cmd})
	}
}

// quiets reports whether a value only turns a pager, an editor or a prompt off.
func quiets(name, value string) bool {
	switch name {
	case "PAGER", "GIT_PAGER", "MANPAGER", "AWS_PAGER", "SYSTEMD_PAGER", "GH_PAGER", "BAT_PAGER", "DELTA_PAGER", "PSQL_PAGER":
		return value == "" || value == "cat"
	case "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_ASKPASS", "SSH_ASKPASS":
		return value == "" || value == "true" || value == ":" || value == "/bin/true" || value == "false" || value == "cat" || value == "echo"
	case "CARGO_BUILD_TARGET": // the name of a platform, or a file that describes one
		return commands.Known(value) && !strings.Contains(value, "/") && !strings.HasSuffix(value, ".json")
	}
	return false
}

// short are names that programs take for the same, and scripts for anything:
// they count for what a program is given.
var short = map[string]bool{"BAZEL": true, "CL": true, "LINK": true, "INCLUDE": true, "DC": true, "DMD": true, "NINJA": true, "EMACS": true, "PACMAN": true, "PERLTIDY": true, "PERLCRITIC": true, "W3M_DIR": true}

// suspicious reports whether the name of a variable looks as if a program
// takes code, options or configuration from it.
func suspicious(name string) bool {
	if short[name] {
		return true
	}
	name = strings.ToUpper(name) // MSBuild takes any variable for a property, in any case
	for _, end := range []string{"LIB", "LIBS", "PATH", "OPT", "OPTS", "OPTIONS", "FLAGS", "RC", "CONFIG", "CONFIG_FILE", "CONFIG_DIR", "CONF_DIR", "RCFILE", "CONF", "EXECUTABLE", "PYTHON", "COMMAND", "CMD", "PAGER", "EDITOR",
		"TARGETS", "PROPS", "SOURCES", "TOOLEXE", "MIRROR", "REGISTRY", "INDEX_URL", "WRAPPER", "PRELOAD", "STARTUP", "HOOK", "HOOKS", "PLUGIN", "PLUGINS", "BROWSER", "SHELL", "ASKPASS", "PROXY", "_HOME", "_RSH", "_SSH", "_EXEC", "_INIT", "_SCRIPT", "_MODULE", "_MODULES"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// Steers reports whether an environment variable changes which code a program
// runs, where it reads its configuration or whom it talks to.
func Steers(name string) bool {
	if _, is := steering[name]; is {
		return true
	}
	for _, p := range steeringPrefixes {
		if strings.HasPrefix(name, p) {
			return !tameGit(name) && name != "CLOUDSDK_CORE_DISABLE_PROMPTS" && name != "CARGO_TARGET_DIR" // which only says where is built
		}
	}
	return strings.HasPrefix(strings.ToLower(name), "npm_config_")
}

func tameGit(name string) bool {
	switch name {
	case "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
		"GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_MERGE_AUTOEDIT", "GIT_LITERAL_PATHSPECS", "GIT_ICASE_PATHSPECS",
		"GIT_ADVICE", "GIT_REFLOG_ACTION", "GIT_LFS_SKIP_SMUDGE":
		return true
	}
	return false
}

var steeringPrefixes = []string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_", "CARGO_TARGET_", "CARGO_REGISTRIES_", "CARGO_REGISTRY_", "CARGO_SOURCE_", "CARGO_ALIAS_", "CARGO_HTTP_",
	"CORECLR_", "COR_", "DOTNET_ADDITIONAL_DEPS", "MSBUILD", "MSBuild", "NUGET_PLUGIN", "BUNDLE_MIRROR", "BUNDLE_BUILD__", "POETRY_REPOSITORIES_", "YARN_NPM_", "SCCACHE_", "PIP_", "UV_", "CONDA_", "DOCKER_", "COMPOSE_",
	"KUBE", "ANSIBLE_", "RCLONE_", "RESTIC_", "BORG_", "CLOUDSDK_CORE_", "CLOUDSDK_API_", "CLOUDSDK_AUTH_", "CLOUDSDK_ACTIVE_", "AWS_ENDPOINT", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_ROLE_", "AWS_CONFIG", "AWS_SHARED_", "HELM_KUBE", "TF_WORKSPACE", "AZURE_CLIENT_", "ARM_", "DIGITALOCEAN_", "TF_CLI_", "ORG_GRADLE_PROJECT_", "CMAKE_C_", "CMAKE_CXX_", "PG", "MYSQL_", "JAVA_TOOL", "GCONV_", "ASSENT_"}

var steering = func() map[string]struct{} {
	m := map[string]struct{}{}
	for n := range strings.FieldsSeq(`
		BASH_CMDS BASH_ALIASES PATH HOME SHELL ENV BASH_ENV ZDOTDIR PROMPT_COMMAND PS0 PS4 CDPATH FPATH INPUTRC SHELLOPTS BASHOPTS GLOBIGNORE EXECIGNORE
		BASH_LOADABLES_PATH BASH_XTRACEFD HISTFILE
		path fpath cdpath module_path NULLCMD READNULLCMD
		chpwd_functions precmd_functions preexec_functions periodic_functions zshexit_functions zshaddhistory_functions zsh_directory_name_functions
		PAGER MANPAGER EDITOR VISUAL BROWSER LESSOPEN LESSCLOSE LESS LESSEDIT LESSKEY MORE GH_PAGER AWS_PAGER SYSTEMD_PAGER BAT_PAGER DELTA_PAGER
		BAT_CONFIG_PATH DELTA_FEATURES PSQL_PAGER PSQL_EDITOR MANOPT MANROFFOPT GROFF_COMMAND_PREFIX
		SSH_ASKPASS SSH_ASKPASS_REQUIRE SUDO_ASKPASS SSH_AUTH_SOCK RSYNC_RSH CVS_RSH SVN_SSH HGRCPATH HG SVN_EDITOR
		PERL5LIB PERL5OPT PERLLIB PERL5DB PERL_MM_OPT PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PYTHONWARNINGS
		PYTHONUSERBASE PYTHONEXECUTABLE PYTHONPLATLIBDIR VIRTUAL_ENV PYTEST_ADDOPTS PYTEST_PLUGINS
		NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED ELECTRON_RUN_AS_NODE NPM_TOKEN
		DENO_DIR BUN_CONFIG_REGISTRY YARN_RC_FILENAME YARN_YARN_PATH YARN_PLUGINS YARN_IGNORE_PATH PNPM_HOME COREPACK_NPM_REGISTRY
		RUBYOPT RUBYLIB RUBYSHELL GEM_HOME GEM_PATH BUNDLE_GEMFILE BUNDLE_PATH RAKEOPT
		PHPRC PHP_INI_SCAN_DIR COMPOSER_HOME
		_JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS CLASSPATH JAVA_HOME MAVEN_OPTS MAVEN_ARGS MAVEN_USER_HOME GRADLE_OPTS GRADLE_USER_HOME ANT_OPTS SBT_OPTS
		KOTLIN_HOME SCALA_HOME JAVACMD
		CC CXX CPP LD AR AS NM RANLIB FC CFLAGS CXXFLAGS LDFLAGS CPPFLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH COMPILER_PATH GCC_EXEC_PREFIX
		MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES MAKE CMAKE_GENERATOR CMAKE_TOOLCHAIN_FILE CONFIG_SHELL CONFIG_SITE M4 AUTOCONF PKG_CONFIG PKG_CONFIG_PATH
		GOWORK GOTOOLDIR GCCGO GORACE CCACHE_PREFIX CCACHE_PREFIX_CPP CCACHE_COMPILER CCACHE_EXTRAFILES DISTCC_HOSTS ANDROID_SDK_ROOT npm_execpath npm_node_execpath
		RUSTUP_DIST_SERVER RUSTUP_UPDATE_ROOT
		RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC RUSTFLAGS RUSTDOCFLAGS RUSTUP_TOOLCHAIN RUSTUP_HOME CARGO_HOME CARGO CARGO_BUILD_RUSTC
		CARGO_BUILD_RUSTC_WRAPPER CARGO_REGISTRY_TOKEN
		GOFLAGS GOPROXY GOSUMDB GONOSUMDB GONOSUMCHECK GOINSECURE GOPRIVATE GOTOOLCHAIN GOROOT GOENV GOVCS GOAUTH GOPATH GOMODCACHE GOEXE CGO_CFLAGS CGO_LDFLAGS
		RIPGREP_CONFIG_PATH GREP_OPTIONS ACKRC FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS FZF_DEFAULT_OPTS_FILE TAR_OPTIONS GZIP UNZIP ZIPOPT XZ_OPT XZ_DEFAULTS ZSTD_CLEVEL RSYNC_OLD_ARGS
		SIMPLE_BACKUP_SUFFIX PATCH_GET POSIXLY_CORRECT AWKPATH AWKLIBPATH JQ_LIBRARY_PATH SQLITE_HISTORY
		HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy FTP_PROXY CURL_HOME CURL_CA_BUNDLE SSL_CERT_FILE SSL_CERT_DIR WGETRC REQUESTS_CA_BUNDLE
		OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES GNUPGHOME HOSTALIASES RESOLV_HOST_CONF LOCALDOMAIN RES_OPTIONS NLSPATH LOCPATH TERMINFO TERMINFO_DIRS TERMCAP TZDIR
		XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME XDG_DATA_DIRS XDG_CACHE_HOME XDG_STATE_HOME XDG_RUNTIME_DIR
		AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_CA_BUNDLE CLOUDSDK_CONFIG AZURE_CONFIG_DIR HELM_PLUGINS HELM_CONFIG_HOME VAULT_ADDR CONSUL_HTTP_ADDR NOMAD_ADDR
		ANSIBLE_CONFIG ANSIBLE_LIBRARY ANSIBLE_ROLES_PATH VAGRANT_HOME PACKER_PLUGIN_PATH TERRAFORM_CONFIG
		VIMINIT EXINIT GVIMINIT MYVIMRC VIM VIMRUNTIME NVIM_APPNAME EMACSLOADPATH TMUX_TMPDIR SCREENRC SYSSCREENRC DISPLAY
		MYSQL_PWD SNOWSQL_PWD REDISCLI_AUTH LUA_PATH LUA_CPATH LUA_INIT R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER R_LIBS JULIA_LOAD_PATH JULIA_DEPOT_PATH
		ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ELIXIR_ERL_OPTIONS MIX_HOME GHCRTS TEXINPUTS TEXMFCNF TEXMFHOME GS_OPTIONS GS_LIB MAGICK_CONFIGURE_PATH
		HARNESS_PERL HARNESS_PERL_SWITCHES COVERAGE_PROCESS_START COVERAGE_RCFILE PYTHONPYCACHEPREFIX PYLINTHOME TOX_OVERRIDE PIPENV_PIPFILE NODE_COMPILE_CACHE
		TS_NODE_PROJECT TS_NODE_COMPILER CYPRESS_RUN_BINARY CHROME_BIN FIREFOX_BIN PUPPETEER_EXECUTABLE_PATH TURBO_API TURBO_TOKEN ANT_ARGS COMPOSER DOTNET_ROOT
		GCC_COMPARE_DEBUG CLANG_CONFIG_FILE_USER_DIR CCC_OVERRIDE_OPTIONS TFLINT_PLUGIN_DIR TF_DATA_DIR TF_PLUGIN_CACHE_DIR GRAPHVIZ_DOT PARALLEL LESSKEYIN LESSKEY_CONTENT
		shell_escape openout_any openin_any BIBINPUTS BSTINPUTS
		AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_EC2_METADATA_SERVICE_ENDPOINT AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE AWS_WEB_IDENTITY_TOKEN_FILE AZURE_EXTENSION_DIR
		CLOUDSDK_PYTHON CLOUDSDK_PYTHON_ARGS CLOUDSDK_AUTH_ACCESS_TOKEN_FILE GOOGLE_APPLICATION_CREDENTIALS PULUMI_BACKEND_URL TF_REATTACH_PROVIDERS VAULT_AGENT_ADDR PACKER_CONFIG_DIR MOLECULE_FILE
		CONTAINERD_ADDRESS CONTAINER_CONNECTION CONTAINER_HOST CONTAINER_RUNTIME_ENDPOINT IMAGE_SERVICE_ENDPOINT BUILDKIT_HOST BUILDX_BUILDER NERDCTL_TOML REGISTRY_AUTH_FILE K9S_CONFIG_DIR
		VAGRANT_CWD VAGRANT_VAGRANTFILE GH_CONFIG_DIR GH_HOST GITLAB_HOST GLAB_CONFIG_DIR SENTRY_URL SONAR_HOST_URL CODECOV_URL COVERALLS_ENDPOINT
		BAZEL_SH BAZELISK_BASE_URL USE_BAZEL_VERSION BZIP BZIP2 LZOP ZIPINFO CCACHE_CC CCACHE_REMOTE_STORAGE CCACHE_SECONDARY_STORAGE CMAKE_PROJECT_TOP_LEVEL_INCLUDES _CL_ SWIFTPM_CUSTOM_BIN_DIR
		DEVELOPER_DIR SDKROOT TOOLCHAINS GOCACHEPROG CARGO_BUILD_RUSTDOC CARGO_BUILD_TARGET RUSTUP_OVERRIDE_HOST_TRIPLE ZIG_BUILD_RUNNER ZIG_LIB_DIR OCAMLPARAM OPAMFETCH GHC_ENVIRONMENT STACK_YAML
		CABAL_CONFIG DUNE_WORKSPACE SHARDS_OVERRIDE SBCL_CORE PLTADDONDIR PLTCOLLECTS PLTUSERHOME TCL_LIBRARY OCTAVE_SITE_INITFILE JULIA_BINDIR JULIA_PROJECT JULIA_PKG_SERVER
		R_MAKEVARS_USER R_DEFAULT_PACKAGES R_TESTS LUA_INIT_5_1 LUA_INIT_5_2 LUA_INIT_5_3 LUA_INIT_5_4 LUA_PATH_5_2 LUA_PATH_5_3 LUA_PATH_5_4 LUA_CPATH_5_2 LUA_CPATH_5_3 LUA_CPATH_5_4
		ERL_ROOTDIR MIX_EXS MIX_REBAR3 MIX_ARCHIVES HEX_API_URL HEX_BUILDS_URL REBAR_GLOBAL_CONFIG_DIR FLUTTER_ROOT FLUTTER_STORAGE_BASE_URL PUB_HOSTED_URL
		COURSIER_CONFIG_DIR COURSIER_REPOSITORIES GRADLE_DISTRIBUTION_URL GRADLE_LIBS_REPO_OVERRIDE KOTLIN_COMPILER MAVEN_BASEDIR MAVEN_PROJECTBASEDIR MVNW_REPOURL SDKMAN_CANDIDATES_API
		PYTHON_PRESITE PDM_PYTHON POETRY_CONFIG_DIR VIRTUALENV_PIP SPHINXBUILD SPHINXOPTS_EXTRA FLASK_APP CELERY_APP ISORT_SETTINGS MYPY_CONFIG_FILE_DIR MATURIN_PEP517_ARGS IMAGEIO_FFMPEG_EXE
		HARNESS_SUBCLASS PERLIO PERL_LOCAL_LIB_ROOT TAP_RCFILE TS_NODE_DIR TS_NODE_REQUIRE TS_NODE_CWD NODE_ICU_DATA MISE_NODE_MIRROR_URL LEFTHOOK_BIN DIRENV_BASH JUST_CHOOSER JUST_JUSTFILE JUST_WORKING_DIRECTORY
		HGMERGE SVN_MERGE CVSROOT CVS_SERVER DIFFPROG TEXEDIT TIGRC_USER TIGRC_SYSTEM NNN_OPENER NNN_PLUG SSH_PKCS11_HELPER SSH_SK_PROVIDER RSYNC_CONNECT_PROG RSYNC_PARTIAL_DIR LYNX_CFG HTTPIE_CONFIG_DIR
		LESSKEY_SYSTEM LESSKEYIN_SYSTEM BAT_CONFIG_DIR EZA_CONFIG_DIR REDISCLI_RCFILE LIBMYSQL_PLUGIN_DIR ODBCINI ODBCSYSINI TNS_ADMIN ORACLE_HOME
		NIX_CONF_DIR NIX_REMOTE NIX_STORE_DIR NIX_USER_CONF_FILES HOMEBREW_ARTIFACT_DOMAIN HOMEBREW_BOTTLE_DOMAIN HOMEBREW_API_DOMAIN HOMEBREW_BREW_GIT_REMOTE HOMEBREW_CORE_GIT_REMOTE
		DPKG_ROOT DPKG_ADMINDIR DPKG_DATADIR RPM_CONFIGDIR RPM_ETCCONFIGDIR PORTAGE_CONFIGROOT PPROF_TOOLS GDK_PIXBUF_MODULE_FILE GSETTINGS_SCHEMA_DIR OCL_ICD_VENDORS VK_ICD_FILENAMES
		DEPENDENCIES_OUTPUT SUNPRO_DEPENDENCIES SSLKEYLOGFILE FFREPORT MALLOC_TRACE NODE_V8_COVERAGE DESTDIR
		ANTHROPIC_BASE_URL OPENAI_BASE_URL CLAUDE_CONFIG_DIR CODEX_HOME MALLOC_CHECK_ GLIBC_TUNABLES NIX_PATH NIX_CONFIG DIRENV_CONFIG
	`) {
		m[n] = struct{}{}
	}
	return m
}()
