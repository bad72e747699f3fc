#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Install what the tests need, build, run every layer, and end with "N passed, N failed, N skipped".
# Usage: tests/run.sh [LAYER...]; the layers are the functions named layer_* below. Without any, all of them, in
# lanes that run at the same time: what computes beside what mostly waits.
# A layer whose parts cannot be had is skipped with the reason; under CI=true that is a failure.
set -u
cd "$(dirname "$0")/.." || exit 1
top=$PWD

lanes=("unit fuzz docs style compilers sanitize distcheck" "integration deploy hotplug" "e2e")
passed=0 failed=0 skipped=0
jobs=$(nproc)
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

packages_apt=(build-essential autoconf automake pkg-config git xz-utils ca-certificates
	libpci-dev libudev-dev libyaml-dev libcjson-dev libpcre2-dev libdeflate-dev
	libcurl4-openssl-dev pci.ids linux-libc-dev
	libcmocka-dev clang clang-format llvm python3 shellcheck mandoc bash-completion procps
	util-linux openssl etcd-server containerd runc umockdev libumockdev-dev qemu-system-x86 seabios busybox-static
	cpio udev
	# The deploy layer: image, packages, services.
	mmdebstrap umoci skopeo debhelper dpkg-dev fakeroot lintian rpm systemd systemd-container buildah
	docker-registry strace
	# The deploy and e2e layers: programs for other processors.
	qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
packages_dnf=(gcc make autoconf automake pkgconf-pkg-config git xz pciutils-devel systemd-devel
	libyaml-devel cjson-devel pcre2-devel libdeflate-devel libcurl-devel hwdata kernel-headers libcmocka-devel clang
	clang-tools-extra compiler-rt libasan libubsan python3 ShellCheck mandoc bash-completion
	procps-ng util-linux openssl etcd)
packages_apk=(build-base autoconf automake pkgconf git xz pciutils-dev eudev-dev yaml-dev cjson-dev
	pcre2-dev libdeflate-dev curl-dev hwdata-pci linux-headers cmocka-dev clang clang-extra-tools compiler-rt python3
	shellcheck mandoc bash-completion procps util-linux openssl bash)

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else return 1; fi
}

apt_has() { ! dpkg-query -W -f '${db:Status-Abbrev}\n' "$@" 2>&1 | grep -qv '^ii'; }

apt_install() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

install_packages() {
	if command -v apt-get >/dev/null; then
		if ! apt_has "${packages_apt[@]}"; then
			as_root apt-get update -q && apt_install "${packages_apt[@]}" || return 1
		fi
		# The hotplug layer takes the kernel of its guest from the package lists, which may be gone.
		apt-cache show linux-image-amd64 >/dev/null 2>&1 || as_root apt-get update -q
		# The sanitizers of clang have its version in the name of their package.
		local runtime
		runtime=libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev
		apt_has "$runtime" || apt_install "$runtime"
	elif command -v dnf >/dev/null; then
		as_root dnf install -y "${packages_dnf[@]}"
	elif command -v apk >/dev/null; then
		as_root apk add "${packages_apk[@]}"
	else
		echo "no known package manager (apt, dnf, apk): continuing with what is there"
	fi
}

# count PASSED FAILED SKIPPED
count() {
	passed=$((passed + $1)) failed=$((failed + $2))
	if [ "${CI:-}" = true ]; then failed=$((failed + $3)); else skipped=$((skipped + $3)); fi
}

# one NAME COMMAND...: a test that is one command; its output is shown when it fails.
one() {
	local name=$1
	shift
	if "$@" >"$logs/one" 2>&1; then
		echo "ok $name"
		count 1 0 0
	else
		tail -n 60 "$logs/one" | sed 's/^/    /'
		echo "FAIL $name"
		count 0 1 0
		return 1
	fi
}

# add_counts NAME FILE: count what the last closing line in FILE says.
add_counts() {
	local line numbers
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$2" | tail -n 1)
	if [ -z "$line" ]; then
		echo "FAIL $1: no closing line"
		count 0 1 0
		return 1
	fi
	read -r -a numbers <<<"${line//[!0-9 ]/}"
	count "${numbers[@]}"
}

# many NAME COMMAND...: a runner that ends with a closing line of its own.
many() {
	local name=$1
	shift
	"$@" 2>&1 | tee "$logs/many"
	add_counts "$name" "$logs/many"
}

skip() {
	echo "skip $1: $2"
	count 0 0 1
}

# build DIR CONFIGURE-ARGUMENT...: configure (once) and make below DIR.
build() {
	local dir=$1
	shift
	mkdir -p "$dir" || return 1
	[ -x configure ] && [ configure -nt configure.ac ] || ./autogen.sh || return 1
	if [ ! -e "$dir/Makefile" ] || [ "$(cat "$dir/configured-with" 2>/dev/null)" != "$*" ]; then
		(cd "$dir" && env "${compiler:-CC=gcc}" ../configure "$@") || return 1
		echo "$*" >"$dir/configured-with"
	fi
	make -C "$dir" -s -j "$jobs"
}

# tap BUILD-DIR PATTERN: run the test programs that match, each from its build, and count TAP lines.
tap() {
	local dir=$1 program name
	for program in "$dir"/$2; do
		if [ ! -x "$program" ] || [ ! -f "$program" ]; then continue; fi
		name=$(basename "$program")
		if CMOCKA_MESSAGE_OUTPUT=TAP "$program" >"$logs/tap" 2>&1; then
			echo "ok $name: $(grep -c '^ok' "$logs/tap") cases"
		else
			sed 's/^/    /' "$logs/tap" | tail -n 60
			echo "FAIL $name"
			# A program that died before its first case still counts.
			grep -q '^not ok' "$logs/tap" || count 0 1 0
		fi
		count "$(grep -c '^ok' "$logs/tap")" "$(grep -c '^not ok' "$logs/tap")" \
			"$(grep -ci '^ok.*# skip' "$logs/tap")"
	done
}

# replay BUILD-DIR: run every fuzz target over its corpus.
replay() {
	local target name
	for target in "$1"/tests/fuzz/fuzz_*; do
		if [ ! -x "$target" ] || [ ! -f "$target" ]; then continue; fi
		name=$(basename "$target")
		one "$name over its corpus" "$target" "$top/tests/fuzz/corpus/${name#fuzz_}"
	done
}

build_main() { build build --enable-werror; }

layer_unit() {
	one "build" build_main || return
	one "build of the unit tests" make -C build -s -j "$jobs" check TESTS= || return
	tap build 'tests/unit/test_*'
}

layer_fuzz() {
	one "build" build_main || return
	one "build of the fuzz targets" make -C build -s -j "$jobs" check TESTS= || return
	replay build
}

layer_integration() {
	one "build" build_main || return
	many "integration" python3 tests/integration/run.py
}

layer_docs() {
	one "build" build_main || return
	many "docs" python3 tests/docs/check.py
}

tree_is_clean() {
	local left
	left=$(git status --porcelain --untracked-files=all)
	[ "$left" = "$tree_before" ] || { printf 'changed by the build or the tests:\n%s\n' "$left"; return 1; }
}

layer_style() {
	one "build" build_main || return
	one "syntax-check" make -C build -s syntax-check
	one "format-check" make -C build -s format-check
	one "size-report" make -C build -s size-report
}

layer_compilers() {
	one "gcc without warnings" build_main
	compiler=CC=clang one "clang without warnings" build build-clang --enable-werror
	compiler=CC=clang one "clang, fuzz targets with libFuzzer" build build-fuzz \
		--enable-werror --enable-fuzzing --enable-asan --enable-ubsan || return
	one "clang, fuzz targets link" make -C build-fuzz -s -j "$jobs" check TESTS=
}

layer_sanitize() {
	one "build with ASan and UBSan" build build-sanitize --enable-werror --enable-asan --enable-ubsan ||
		return
	one "unit tests build with ASan and UBSan" make -C build-sanitize -s -j "$jobs" check TESTS= || return
	tap build-sanitize 'tests/unit/test_*'
	replay build-sanitize
	NFD_SOURCE_BIN=$top/build-sanitize/nfd-source/nfd-source \
		many "integration with ASan and UBSan" python3 tests/integration/run.py
}

layer_distcheck() {
	one "build" build_main || return
	one "make distcheck" make -C build -j "$jobs" distcheck
	one "tree as before" tree_is_clean
}

layer_hotplug() {
	one "build" build_main || return
	many "hotplug" python3 tests/hotplug/run.py
}

layer_deploy() {
	one "build" build_main || return
	many "deploy" python3 tests/deploy/run.py
}

layer_e2e() {
	one "build" build_main || return
	many "e2e" python3 tests/e2e/run.py
}

run_layers() {
	local layer start
	for layer in "$@"; do
		echo "== $layer"
		start=$SECONDS
		"layer_$layer"
		echo "== $layer took $((SECONDS - start)) s"
	done
}

# run_lanes: each lane is a run of this script; what all of them need is built first.
run_lanes() {
	local number lane
	one "build" build_main || return
	for number in "${!lanes[@]}"; do
		read -r -a lane <<<"${lanes[number]}"
		"$top/tests/run.sh" "${lane[@]}" 2>&1 | tee "$logs/lane-$number" | sed -u "s/^/lane $number: /" &
	done
	wait
	for number in "${!lanes[@]}"; do
		add_counts "lane $number" "$logs/lane-$number"
	done
}

tree_before=$(git status --porcelain --untracked-files=all 2>/dev/null)
for layer in "$@"; do
	declare -F "layer_$layer" >/dev/null || {
		echo "unknown layer \"$layer\"; layers: $(declare -F | sed -n 's/^declare -f layer_//p' | tr '\n' ' ')" >&2
		exit 2
	}
done
install_packages >"$logs/install" 2>&1 || { tail -n 20 "$logs/install"; echo "some packages could not be installed; continuing"; }
if [ $# -gt 0 ]; then run_layers "$@"; else run_lanes; fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
