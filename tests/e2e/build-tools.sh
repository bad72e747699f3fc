#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds the real programs that the end-to-end tests and the bench run against
# (tools/*/tools.go names them, tools/*/go.mod pins them) into a cache outside
# the tree, and prints the directory of each set. Only the first run is long.
#
# Usage: tests/e2e/build-tools.sh [kubernetes|nfd|nvidia|helm]...   (default: all)
# Exit: 0 done, 1 a build failed, 2 unknown set, 77 no Go that is new enough and a set is missing.
set -eu

tools=$(cd "$(dirname "$0")/tools" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nfd-source/e2e
go_least=1.26

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

# set_module SET: the module whose version names the set.
set_module() {
	case $1 in
	kubernetes) echo k8s.io/kubernetes ;;
	nfd) echo sigs.k8s.io/node-feature-discovery ;;
	nvidia) echo github.com/NVIDIA/k8s-device-plugin ;;
	helm) echo helm.sh/helm/v3 ;;
	*)
		echo "build-tools: no tool set '$1' (kubernetes, nfd, nvidia, helm)" >&2
		exit 2
		;;
	esac
}

# set_version SET: version of the set's module as its go.mod requires it.
set_version() {
	awk -v module="$(set_module "$1")" \
		'$1 == "require" { sub(/^require /, "") } $1 == module && $2 ~ /^v/ { print $2; exit }' \
		"$tools/$1/go.mod"
}

# set_packages SET: the import paths of tools.go.
set_packages() {
	sed -n 's/^[[:space:]]*_ "\(.*\)"$/\1/p' "$tools/$1/tools.go"
}

# set_ldflags SET VERSION: strip; the API server must state its version, and
# NVIDIA's cgo programs must start where libnvidia-ml.so.1 is missing.
set_ldflags() {
	case $1 in
	kubernetes) echo "-s -w -X k8s.io/component-base/version.gitVersion=$2" ;;
	nfd) echo "-s -w -X sigs.k8s.io/node-feature-discovery/pkg/version.version=$2" ;;
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

# build_set SET DIR VERSION: builds into a temporary folder beside DIR and
# renames it, so DIR is complete when it exists.
build_set() {
	need_go
	echo "build-tools: building $1 $3 (minutes, only once)" >&2
	mapfile -t packages < <(set_packages "$1")
	rm -rf "$2".?????? # left by a build that was killed
	temp=$(mktemp -d "$2.XXXXXX")
	trap 'rm -rf "$temp"' EXIT
	(cd "$tools/$1" && GOFLAGS='' go build -mod=readonly -buildvcs=false -trimpath \
		-ldflags "$(set_ldflags "$1" "$3")" -o "$temp/" "${packages[@]}")
	set_extras "$1" "$temp"
	chmod 0755 "$temp"
	mv -T "$temp" "$2"
	trap - EXIT
}

# provide_set SET: prints the set's directory, built first if it is missing.
provide_set() {
	version=$(set_version "$1")
	hash=$(cd "$tools/$1" && cat tools.go go.mod go.sum | sha256sum | cut -c1-12)
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
