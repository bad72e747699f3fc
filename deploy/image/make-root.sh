#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The files of the image, from Debian packages and this tree; build.sh and the Containerfile share it.
#
#     deploy/image/make-root.sh ARCH PACKAGES OUTPUT
#
# ARCH: amd64 or arm64, on a machine of any kind. PACKAGES: folder with the .deb files of the list "packages" and of all
# that they depend on. OUTPUT: new folder; libraries/ and program/ in there are the two layers of the image. The program is
# built against those packages and never against what is installed here, so the builder's own libraries do not matter.
set -eu
export LC_ALL=C.UTF-8

arch=$1
packages=$(cd "$2" && pwd)
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir "$3"
output=$(cd "$3" && pwd)

case $arch in
amd64) triplet=x86_64-linux-gnu ;;
arm64) triplet=aarch64-linux-gnu ;;
*)
	echo "make-root: no architecture \"$arch\" (amd64, arm64)" >&2
	exit 2
	;;
esac

# Modes in the image are those of the packages, whatever the umask of the builder is.
umask 022

# Extracts every package into sysroot/, and notes in lists/ which files came from which. The links are those of a merged
# /usr, which the packages of Debian 12 expect to find.
extract_packages() {
	sysroot=$output/sysroot
	mkdir -p "$sysroot/usr/lib" "$sysroot/usr/lib64" "$output/lists"
	ln -s usr/lib usr/lib64 "$sysroot/"
	for package in "$packages"/*.deb; do
		dpkg-deb --fsys-tarfile "$package" |
			tar -C "$sysroot" --keep-directory-symlink --no-same-owner -xv \
				>"$output/lists/$(basename "$package" .deb)"
	done
}

# The paths of this machine would get into the program where it names its own source files.
build_program() {
	[ -x "$top/configure" ] || "$top/autogen.sh"
	mkdir "$output/build"
	cd "$output/build"
	# With --build, configure never tries to run what it made for another kind of machine, also where qemu would.
	PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$triplet/pkgconfig:$sysroot/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$sysroot \
		"$top/configure" --build="$(gcc -dumpmachine)" --host="$triplet" --prefix=/usr --libexecdir=/usr/libexec \
		PKG_CONFIG=pkg-config CC="$triplet-gcc --sysroot=$sysroot" \
		CFLAGS="-Os -ffile-prefix-map=$top=. -ffile-prefix-map=$output=."
	make -j "$(nproc)"
	make install-exec DESTDIR="$output/program"
	cd "$top"
	"$triplet-strip" "$output/program/usr/bin"/* "$output/program/usr/libexec"/*
	install -D -m 0644 COPYING "$output/program/usr/share/doc/nfd-source/copyright"
}

extract_packages
build_program
"$top/deploy/image/libraries.py" "$packages" "$output"
