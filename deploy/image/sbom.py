#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes what is in an image, as SPDX 2.3 in JSON, to stdout.

    deploy/image/sbom.py LIBRARIES VERSION ARCH DIGEST SECONDS

LIBRARIES: root of the layer of libraries, which has the record of each Debian package. VERSION: of nfd-source. DIGEST:
of the image's manifest (sha256:...). SECONDS: the time that the document bears. The same input gives the same document.
"""

import datetime
import json
import pathlib
import re
import sys
import urllib.parse
import uuid

RECORDS = "var/lib/dpkg/status.d"
UNKNOWN = "NOASSERTION"
LICENSE = "GPL-2.0-or-later"


def identifier(text):
    """A text as part of an SPDX identifier."""
    return re.sub(r"[^A-Za-z0-9.-]", "-", text)


def quoted(text):
    """A text as part of a package URL, where a colon stands for itself."""
    return urllib.parse.quote(text, safe=":")


def package(spdx_id, name, version, purl, **more):
    """One package of the document."""
    return {
        "SPDXID": f"SPDXRef-{spdx_id}", "name": name, "versionInfo": version, "downloadLocation": UNKNOWN,
        "filesAnalyzed": False, "licenseConcluded": UNKNOWN, "licenseDeclared": UNKNOWN, "copyrightText": UNKNOWN,
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}],
        **more}


def debian_package(record):
    """A Debian package, from its control fields."""
    fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", record, re.M))
    name, version = fields["Package"], fields["Version"]
    # Mostly teams, and nothing tells which are not.
    maintainer = re.sub(r" <(.+)>$", r" (\1)", fields["Maintainer"])
    return package(
        f"Debian-{identifier(name)}", name, version,
        f"pkg:deb/debian/{quoted(name)}@{quoted(version)}?arch={fields['Architecture']}&distro=debian-12",
        supplier=f"Organization: {maintainer}",
        sourceInfo=f"built from the source package {fields.get('Source', name)}")


def debian_packages(libraries):
    """All Debian packages of the image, by name."""
    files = sorted((libraries / RECORDS).iterdir())
    return [debian_package(file.read_text()) for file in files if file.suffix != ".md5sums"]


def relation(source, kind, target):
    """One relationship of the document."""
    return {"spdxElementId": source, "relationshipType": kind, "relatedSpdxElement": target}


def document(libraries, version, arch, digest, seconds):
    """The whole document."""
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    image = package(
        "Image", f"nfd-source-image-{arch}", version,
        f"pkg:oci/nfd-source@{urllib.parse.quote(digest)}?arch={arch}",
        primaryPackagePurpose="CONTAINER", licenseDeclared=UNKNOWN,
        checksums=[{"algorithm": "SHA256", "checksumValue": digest.partition(":")[2]}])
    program = package(
        "Program", "nfd-source", version, f"pkg:generic/nfd-source@{quoted(version)}",
        primaryPackagePurpose="APPLICATION", licenseConcluded=LICENSE, licenseDeclared=LICENSE)
    inside = [program, *debian_packages(libraries)]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"nfd-source-{version}-{arch}",
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "creationInfo": {"created": created, "creators": ["Tool: nfd-source-sbom"]},
        "packages": [image, *inside],
        "relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", image["SPDXID"]),
                          *(relation(image["SPDXID"], "CONTAINS", each["SPDXID"]) for each in inside)]}


if __name__ == "__main__":
    FOLDER, *WORDS, TIME = sys.argv[1:]
    json.dump(document(pathlib.Path(FOLDER), *WORDS, int(TIME)), sys.stdout, indent=2)
    print()
