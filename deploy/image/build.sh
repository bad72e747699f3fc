#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the container image of this tree without an image registry: Debian's packages, two layers, one digest for one input.
#
#     deploy/image/build.sh [--arch amd64|arm64] [--output DIR] [--push REF] ...
#
# DIR (build/image) gets, for each architecture,
#     nfd-source-VERSION-ARCH.oci.tar     OCI archive, for ctr, kind, k3s, podman, skopeo
#     nfd-source-VERSION-ARCH.oci/        the same as OCI layout
#     nfd-source-VERSION-ARCH.spdx.json   what is in it
# and for more than one nfd-source-VERSION.oci.tar, which holds them all. Names, sizes and digests are printed. It needs no
# root, only user namespaces (for mmdebstrap); root does as well. README.md beside this file says more.
set -eu
export LC_ALL=C.UTF-8

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
suite=bookworm
output=$top/build/image
arches='' name='' packages='' push='' insecure='' sources='' install=''

usage() {
	cat <<'END'
usage: deploy/image/build.sh [OPTION...]
  --arch ARCH      amd64 or arm64, also of another machine than this one; may be repeated (default: this machine's)
  --output DIR     where the images go (default: build/image)
  --name REF       name in the archive (default: docker.io/library/nfd-source:VERSION)
  --packages DIR   use the .deb files in DIR/ARCH and download nothing; they are put there when DIR/ARCH does not exist
  --sources FILE   apt sources of Debian 12 (default: Debian's own servers)
  --install        install with apt what this script needs and the machine lacks
  --push REF       copy the image to a registry with skopeo; skopeo login, or docker login, before that
  --insecure       that registry speaks plain HTTP, or nobody vouches for its certificate
SOURCE_DATE_EPOCH is the time that everything gets; default: that of the last commit, without git that of NEWS.md.
END
}

say() {
	printf '%s\n' "$*" >&2
}

fail() {
	say "build: $*"
	exit 1
}

has() {
	command -v "$1" >/dev/null 2>&1
}

# The prefix of the compiler and its friends.
triplet() {
	case $1 in
	amd64) echo x86_64-linux-gnu ;;
	arm64) echo aarch64-linux-gnu ;;
	*) fail "no architecture \"$1\" (amd64, arm64)" ;;
	esac
}

# Programs and their Debian packages, of which two depend on what is asked for.
needed() {
	printf '%s\n' 'mmdebstrap mmdebstrap' 'umoci umoci' 'autoconf autoconf' 'automake automake' 'make make' \
		'pkg-config pkg-config' 'gcc gcc' 'python3 python3'
	[ ! -e "$top/.git" ] || echo 'git git'
	for arch in $arches; do
		prefix=$(triplet "$arch")
		if [ "$arch" = "$(dpkg --print-architecture)" ]; then
			echo "$prefix-gcc gcc"
		else
			echo "$prefix-gcc gcc-$(echo "$prefix" | tr _ -)"
		fi
	done
	[ -z "$push" ] || echo 'skopeo skopeo'
}

# The packages of needed programs that are not there.
missing() {
	needed | while read -r program package; do
		has "$program" || echo "$package"
	done | sort -u
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

install_packages() {
	as_root apt-get update
	# shellcheck disable=SC2086 # words
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $lacking
}

# Runs a step with its output in the log; when it fails, the end of that is shown. In a step "set -e" does not count, so
# its commands are joined by &&.
step() {
	say "$1 ..."
	shift
	"$@" >>"$log" 2>&1 && return 0
	tail -n 25 "$log" >&2
	fail "that failed; the whole output is in $log"
}

version() {
	sed -n 's/^AC_INIT(\[nfd-source\], \[\(.*\)\])$/\1/p' "$top/configure.ac"
}

# A commit's time, so that the same commit gives the same image anywhere; a tarball has NEWS.md, written for its release.
# Under sudo the tree may be another user's, which git would refuse.
epoch() {
	if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
		echo "$SOURCE_DATE_EPOCH"
	elif [ -e "$top/.git" ]; then
		git -c safe.directory="$top" -C "$top" log -1 --format=%ct
	else
		stat -c %Y "$top/NEWS.md"
	fi
}

# download ARCH DIR: the packages of our list and all that they depend on. mmdebstrap makes no root here; it checks Debian's
# signatures and follows the dependencies in an apt of its own, so this machine may be any.
download() {
	list=$(grep -v '^#' "$here/packages" | paste -s -d ,)
	# shellcheck disable=SC2086 # no word when there are no sources
	mkdir -p "$(dirname "$2")" && fetched=$(mktemp -d "$2.XXXXXX") &&
		mmdebstrap --variant=extract --architectures="$1" --include="$list" --format=null \
			--extract-hook="copy-out /var/cache/apt/archives $fetched" "$suite" - $sources &&
		mkdir "$fetched/debs" &&
		mv "$fetched"/archives/*.deb "$fetched/debs/" &&
		mv -T "$fetched/debs" "$2" &&
		rm -r "$fetched"
}

utc() {
	date -u -d "@$1" +%FT%TZ
}

# layer IMAGE WHAT SECONDS DIR: a folder as a layer, with nothing in it that depends on who made it, where or when.
layer() {
	tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=a+rX,u+w,go-w --mtime="@$3" \
		-C "$4" -cf "$4.tar" . &&
		umoci raw add-layer --image "$1" --history.created "$(utc "$3")" --history.created_by "$2" "$4.tar"
}

# The libraries get the time of the newest of their files, not ours: their layer stays the same, and stays on the nodes,
# until a package changes.
newest() {
	find "$1" -type f -printf '%T@\n' | sort -n | tail -n 1 | cut -d . -f 1
}

# make_layout ARCH ROOT LAYOUT: libraries and program below ROOT become a layout.
make_layout() {
	umoci init --layout "$3" &&
		umoci new --image "$3:$name" &&
		layer "$3:$name" 'libraries of Debian 12' "$(newest "$2/sysroot/usr/share/doc")" "$2/libraries" &&
		layer "$3:$name" "nfd-source $version" "$seconds" "$2/program" &&
		umoci config --image "$3:$name" --no-history --created "$(utc "$seconds")" --os linux --architecture "$1" \
			--config.user 65534:65534 --config.env PATH=/usr/bin --config.entrypoint /usr/bin/nfd-source \
			--config.label org.opencontainers.image.title=nfd-source \
			--config.label org.opencontainers.image.description='Hardware of a node as node labels' \
			--config.label org.opencontainers.image.version="$version" \
			--config.label org.opencontainers.image.licenses=GPL-2.0-or-later &&
		umoci gc --layout "$3"
}

archive() {
	tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=a+rX,u+w,go-w --mtime="@$seconds" \
		-C "$1" -cf "$2" blobs index.json oci-layout
}

digest() {
	sed 's/.*"digest":"\([^"]*\)".*/\1/' "$1/index.json"
}

# finish BASE: the layout becomes an archive too, and is told of.
finish() {
	archive "$1.oci" "$1.oci.tar"
	printf '%s\n%s bytes, %s\n' "$1.oci.tar" "$(stat -c %s "$1.oci.tar")" "$(digest "$1.oci")"
}

# build ARCH
build() {
	base=$output/nfd-source-$version-$1
	work=$(mktemp -d "$output/work.XXXXXX")
	debs=${packages:-$work/packages}/$1
	[ -d "$debs" ] || step "Downloading Debian's packages for $1" download "$1" "$debs"
	step "Building the program for $1" "$here/make-root.sh" "$1" "$debs" "$work/files"
	rm -rf "$base.oci" "$base.oci.tar" "$base.spdx.json"
	step "Making the image for $1" make_layout "$1" "$work/files" "$base.oci"
	"$here/sbom.py" "$work/files/libraries" "$version" "$1" "$(digest "$base.oci")" "$seconds" >"$base.spdx.json"
	rm -rf "$work"
	finish "$base"
}

# All architectures under one name.
join() {
	base=$output/nfd-source-$version
	rm -rf "$base.oci" "$base.oci.tar"
	for arch in $arches; do
		set -- "$@" "$base-$arch.oci"
	done
	step "Joining$arches" "$here/index.py" "$name" "$base.oci" "$@"
	finish "$base"
}

# Our own image needs nobody's policy, and must keep its digest.
push_image() {
	step "Pushing to $push" skopeo --insecure-policy copy --all --preserve-digests \
		${insecure:+--dest-tls-verify=false} "oci-archive:$base.oci.tar" "docker://$push"
}

while [ $# -gt 0 ]; do
	case $1 in
	--install) install=yes ;;
	--insecure) insecure=yes ;;
	--help | -h)
		usage
		exit 0
		;;
	--arch | --output | --name | --packages | --sources | --push)
		[ $# -gt 1 ] || fail "$1 needs a value"
		case $1 in
		--arch) triplet "$2" >/dev/null && arches="$arches $2" ;;
		--output) output=$2 ;;
		--name) name=$2 ;;
		--packages) packages=$2 ;;
		--sources) sources=$2 ;;
		--push) push=$2 ;;
		esac
		shift
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
	shift
done

[ -n "$arches" ] || arches=$(dpkg --print-architecture 2>/dev/null) || fail "this needs Debian or one of its children (dpkg)"
lacking=$(missing | tr '\n' ' ')
mkdir -p "$output"
output=$(cd "$output" && pwd)
log=$output/build.log
: >"$log"
trap 'rm -rf "$output"/work.??????' EXIT
if [ -n "$lacking" ]; then
	[ -n "$install" ] || fail "missing packages: ${lacking% }; --install installs them"
	step "Installing packages (${lacking% })" install_packages
fi
version=$(version)
seconds=$(epoch)
[ -n "$name" ] || name=docker.io/library/nfd-source:$version
for arch in $arches; do
	build "$arch"
done
[ "$(echo "$arches" | wc -w)" -eq 1 ] || join
[ -z "$push" ] || push_image
