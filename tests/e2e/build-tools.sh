#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds the real programs that the end-to-end tests and the bench run against
# (tools/*/tools.go names them, tools/*/go.mod pins them) into a cache outside
# the tree, and prints the directory of each set. Only the first run is long.
#
# Usage: tests/e2e/build-tools.sh [kubernetes|nfd|nvidia|helm|nfd-arm64]...   (default: all but nfd-arm64)
# Exit: 0 done, 1 a build failed, 2 unknown set, 77 no Go that is new enough, or no compiler for arm64, and a set is
# missing.
#
# nfd-arm64 is an nfd-worker that qemu-user can run: statically linked.
set -eu

tools=$(cd "$(dirname "$0")/tools" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nfd-source/e2e
go_least=1.26
arm64_cc=${NFD_SOURCE_ARM64_CC:-aarch64-linux-gnu-gcc}

# Ends with 77 unless "go" is there and new enough. GOTOOLCHAIN=local keeps an
# older Go from fetching another one behind our back.
need_go() {
	export GOTOOLCHAIN=local
	if ! command -v go >/dev/null; then
		echo "build-tools: no 'go' on PATH; Go >= $go_least is needed" >&2
		exit 77
	fi
	have=$(go env GOVERSION)
	have=${have#go}
	if [ "$(printf '%s\n' "$go_least" "$have" | sort -V | head -n 1)" != "$go_least" ]; then
		echo "build-tools: Go is $have; Go >= $go_least is needed" >&2
		exit 77
	fi
}

# Ends with 77 unless a compiler for arm64 with a C library is there.
need_arm64_compiler() {
	if ! echo '#include <sys/auxv.h>' | "$arm64_cc" -E -o /dev/null - 2>/dev/null; then
		echo "build-tools: '$arm64_cc' cannot compile for arm64 (\$NFD_SOURCE_ARM64_CC)" >&2
		exit 77
	fi
}

# set_module SET: the module whose version names the set.
set_module() {
	case $1 in
	kubernetes) echo k8s.io/kubernetes ;;
	nfd | nfd-arm64) echo sigs.k8s.io/node-feature-discovery ;;
	nvidia) echo github.com/NVIDIA/k8s-device-plugin ;;
	helm) echo helm.sh/helm/v3 ;;
	*)
		echo "build-tools: no tool set '$1' (kubernetes, nfd, nvidia, helm, nfd-arm64)" >&2
		exit 2
		;;
	esac
}

# set_dir SET: the folder of its tools.go.
set_dir() { echo "$tools/${1%-arm64}"; }

# set_version SET: version of the set's module as its go.mod requires it.
set_version() {
	awk -v module="$(set_module "$1")" \
		'$1 == "require" { sub(/^require /, "") } $1 == module && $2 ~ /^v/ { print $2; exit }' \
		"$(set_dir "$1")/go.mod"
}

# set_packages SET: the import paths of tools.go; of those for arm64 the worker's alone.
set_packages() {
	only=
	[ "$1" != nfd-arm64 ] || only=/nfd-worker
	sed -n "s|^[[:space:]]*_ \"\(.*$only\)\"\$|\1|p" "$(set_dir "$1")/tools.go"
}

# set_ldflags SET VERSION: strip; the API server must state its version, and
# NVIDIA's cgo programs must start where libnvidia-ml.so.1 is missing.
set_ldflags() {
	case $1 in
	kubernetes) echo "-s -w -X k8s.io/component-base/version.gitVersion=$2" ;;
	nfd) echo "-s -w -X sigs.k8s.io/node-feature-discovery/pkg/version.version=$2" ;;
	nfd-arm64) echo "-s -w -extldflags=-static" ;;
	nvidia) echo "-s -w -extldflags=-Wl,-z,lazy" ;;
	helm) echo "-s -w -X helm.sh/helm/v3/internal/version.version=$2" ;;
	esac
}

# set_extras SET DIR: what the tests need beside the programs.
set_extras() {
	[ "$1" = nfd ] || return 0
	module=$(cd "$tools/nfd" && go list -mod=readonly -m -f '{{.Dir}}' "$(set_module nfd)")
	install -m 0644 "$module/deployment/base/nfd-crds/nfd-api-crds.yaml" "$2/"
}

# set_target SET: variables of "go build". nfd-arm64 is C in part, which asks for the processor's flags; what a static
# program cannot have of the C library is Go.
set_target() {
	case $1 in
	nfd-arm64) echo "GOFLAGS=-tags=osusergo,netgo GOARCH=arm64 CGO_ENABLED=1 CC=$arm64_cc" ;;
	*) echo GOFLAGS= ;;
	esac
}

# build_set SET DIR VERSION: builds into a temporary folder beside DIR and
# renames it, so DIR is complete when it exists.
build_set() {
	need_go
	[ "$1" != nfd-arm64 ] || need_arm64_compiler
	echo "build-tools: building $1 $3 (minutes, only once)" >&2
	mapfile -t packages < <(set_packages "$1")
	read -r -a target < <(set_target "$1")
	rm -rf "$2".?????? # left by a build that was killed
	temp=$(mktemp -d "$2.XXXXXX")
	trap 'rm -rf "$temp"' EXIT
	(cd "$(set_dir "$1")" && env "${target[@]}" go build -mod=readonly -buildvcs=false -trimpath \
		-ldflags "$(set_ldflags "$1" "$3")" -o "$temp/" "${packages[@]}")
	set_extras "$1" "$temp"
	chmod 0755 "$temp"
	mv -T "$temp" "$2"
	trap - EXIT
}

# provide_set SET: prints the set's directory, built first if it is missing.
provide_set() {
	version=$(set_version "$1")
	hash=$(cd "$(set_dir "$1")" && cat tools.go go.mod go.sum | sha256sum | cut -c1-12)
	dir=$cache/$1-$version-$hash
	if [ ! -d "$dir" ]; then
		mkdir -p "$cache"
		exec 9>"$cache/$1.lock"
		flock 9
		[ -d "$dir" ] || build_set "$1" "$dir" "$version"
		exec 9>&-
	fi
	echo "$dir"
}

[ $# -gt 0 ] || set -- kubernetes nfd nvidia helm
for name in "$@"; do
	set_module "$name" >/dev/null
done
for name in "$@"; do
	provide_set "$name"
done
