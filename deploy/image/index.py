#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins the OCI layouts of several architectures in one, under one name: each node takes the part that it can run.

    deploy/image/index.py NAME OUTPUT LAYOUT...
"""

import hashlib
import json
import pathlib
import shutil
import sys

INDEX = "application/vnd.oci.image.index.v1+json"
REFERENCE = "org.opencontainers.image.ref.name"


def compact(value):
    """JSON that is always the same for the same value."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def part(layout):
    """The entry of an index for the one image of a layout."""
    entry, = json.loads((layout / "index.json").read_text())["manifests"]
    blobs = layout / "blobs"
    manifest = json.loads((blobs / entry["digest"].replace(":", "/")).read_text())
    config = json.loads((blobs / manifest["config"]["digest"].replace(":", "/")).read_text())
    return {"mediaType": entry["mediaType"], "digest": entry["digest"], "size": entry["size"],
            "platform": {"architecture": config["architecture"], "os": config["os"]}}


def main(name, output, *layouts):
    """Make the layout."""
    output.mkdir()
    for layout in layouts:
        shutil.copytree(layout / "blobs", output / "blobs", dirs_exist_ok=True)
        shutil.copy(layout / "oci-layout", output / "oci-layout")
    text = compact({"schemaVersion": 2, "mediaType": INDEX, "manifests": [part(layout) for layout in layouts]})
    digest = hashlib.sha256(text).hexdigest()
    (output / "blobs/sha256" / digest).write_bytes(text)
    (output / "index.json").write_bytes(compact({"schemaVersion": 2, "manifests": [{
        "mediaType": INDEX, "digest": f"sha256:{digest}", "size": len(text), "annotations": {REFERENCE: name}}]}))


if __name__ == "__main__":
    main(sys.argv[1], *map(pathlib.Path, sys.argv[2:]))
