# SPDX-License-Identifier: GPL-2.0-or-later
"""As much of an API server as the helper needs, so that faults can be put between otherwise right answers.

It keeps one Node and some NodeFeature and Pod objects and knows GET, DELETE, server-side apply and JSON patch for
them. It is an answer function of HttpsServer. The real API server is tested in tests/e2e.
"""

import copy
import json
from urllib.parse import unquote

from https_server import Reply, Request, json_reply

GROUP = "nfd.k8s-sigs.io"
GROUP_PATH = f"/apis/{GROUP}"
ANNOTATION = "nfd.node.kubernetes.io/feature-labels"
APPLY, JSON_PATCH = "application/apply-patch+yaml", "application/json-patch+json"
OURS = "nfd-source"

EVENTS_PATH = "/api/v1/namespaces/default/events"
REASONS = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 422: "Invalid",
           429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable"}


def status(code, message, details=None, headers=None):
    """A Kubernetes Status as reply."""
    value = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
             "reason": REASONS.get(code, "Unknown"), "code": code}
    return json_reply(code, {**value, "details": details} if details else value, headers)


def unknown_path():
    """What an API server says about a path of which it knows nothing."""
    return Reply(404, "404 page not found\n", {"Content-Type": "text/plain; charset=utf-8"})


def not_allowed(node, *keys):
    """The 403 of NodeRestriction for labels of a Node."""
    message = f'nodes "{node}" is forbidden: is not allowed to modify labels: {", ".join(keys)}'
    return status(403, message, {"name": node, "kind": "nodes"})


def changed_meanwhile(node):
    """The 409 that is no field conflict."""
    message = (f'Operation cannot be fulfilled on nodes "{node}": the object has been modified; '
               "please apply your changes to the latest version and try again")
    return status(409, message, {"name": node, "kind": "nodes"})


def field_conflict(owners):
    """The 409 of server-side apply. owners: label key to the manager that has it."""
    causes = [{"reason": "FieldManagerConflict", "message": f'conflict with "{manager}" using v1',
               "field": f".metadata.labels.{key}"} for key, manager in sorted(owners.items())]
    what = "1 conflict" if len(causes) == 1 else f"{len(causes)} conflicts"
    named = "\n".join(f"- {cause['message']}: {cause['field']}" for cause in causes)
    return status(409, f"Apply failed with {what}: {named}", {"causes": causes})


def entry(manager, keys, operation="Apply"):
    """An entry of managedFields that owns these labels."""
    fields = {"f:metadata": {"f:labels": {f"f:{key}": {} for key in keys}}}
    return {"manager": manager, "operation": operation, "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": fields}


def owned_keys(item):
    """The label keys of an entry of managedFields."""
    labels = item.get("fieldsV1", {}).get("f:metadata", {}).get("f:labels", {})
    return {key[2:] for key in labels if key.startswith("f:")}


def loses_a_map(now, wanted):
    """Whether an apply takes away all that some map has: the API server makes null of that, which no schema takes."""
    return any(isinstance(value, dict) and isinstance(now.get(key), dict) and
               ((now[key] and not value) or loses_a_map(now[key], value)) for key, value in wanted.items())


class _Pointer:
    """A JSON pointer into a document of dictionaries and lists."""

    def __init__(self, document, text):
        *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]
        for name in parents:
            document = document[self._step(document, name)]
        self.parent, self.name = document, self._step(document, last)

    @staticmethod
    def _step(parent, name):
        return int(name) if isinstance(parent, list) else name

    def get(self):
        """The value there; KeyError or IndexError without one."""
        return self.parent[self.name]

    def replace(self, value):
        """Put another value there."""
        self.get()
        self.parent[self.name] = value

    def remove(self):
        """Take it away."""
        del self.parent[self.name]


class FakeApi:
    """The state of the cluster and the answers to requests.

    node: the Node as dictionary, None when there is none. objects: NodeFeature objects and pods by their path.
    served: whether the resource type NodeFeature is there. tokens: bearer tokens that count, None: everybody may.
    requests: all that came in, in order. history: the Node's labels after each change.
    surprises: requests that it does not know. events: bodies of Events that were posted: they come when doctor has looked
    at the host, in no order with the other requests, and do not count among them.
    """

    def __init__(self, node="node-1", served=True):
        self.name = node
        self.served = served
        self.tokens = None
        self.objects = {}
        self.requests, self.surprises, self.history, self.events = [], [], [], []
        self.faults = []
        self.version = 100
        self.node = None
        self.register("uid-1")

    def register(self, uid):
        """A Node without labels of ours."""
        self.node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "uid": uid, "labels": {}, "annotations": {}, "managedFields": []},
            "spec": {"podCIDR": "10.0.0.0/24"},
            "status": {"capacity": {"cpu": "2"}},
        }
        self.set_labels("kubelet", {"kubernetes.io/hostname": self.name}, "Update")

    @property
    def labels(self):
        """The Node's labels."""
        return self.node["metadata"]["labels"]

    @property
    def node_path(self):
        """Path of the Node."""
        return f"/api/v1/nodes/{self.name}"

    def owned(self, manager=OURS):
        """Label keys that a manager owns."""
        return sorted(set().union(*(owned_keys(item) for item in self._fields() if item["manager"] == manager)))

    def set_labels(self, manager, labels, operation="Apply"):
        """Labels that somebody else sets and from then on owns, and the only ones that he owns."""
        for other in self._fields():
            changed = {key for key in owned_keys(other) if key in labels and labels[key] != self.labels.get(key)}
            for key in changed:
                del other["fieldsV1"]["f:metadata"]["f:labels"][f"f:{key}"]
        kept = [item for item in self._fields() if item["manager"] != manager and owned_keys(item)]
        self.node["metadata"]["managedFields"] = [*kept, entry(manager, labels, operation)]
        self.labels.update(labels)
        self._changed()

    def annotate(self, value):
        """NFD's annotation that lists its labels; its other annotation comes along."""
        self.node["metadata"]["annotations"].update(
            {ANNOTATION: value, "nfd.node.kubernetes.io/master.version": "v0.19.0"})
        self._changed()

    def inject(self, method, part, *replies):
        """The next requests of that method whose path contains part get these replies, one each.

        A reply may be a function(Request), called for the reply; where that gives None, the right answer follows.
        """
        self.faults += [(method, part, reply, False) for reply in replies]

    def always(self, method, part, reply):
        """Every request of that kind gets this reply, until calm()."""
        self.faults.append((method, part, reply, True))

    def calm(self):
        """No more wrong answers."""
        self.faults.clear()

    def sent(self, method, part=""):
        """Requests so far of that method whose path contains part."""
        return [request for request in self.requests if request.method == method and part in request.path]

    def counts(self):
        """Number of requests by method in lower case."""
        methods = [request.method.lower() for request in self.requests]
        return {method: methods.count(method) for method in methods}

    def __call__(self, request: Request):
        if request.method == "POST" and request.route == EVENTS_PATH:
            self.events.append(request.body)
            return json_reply(201, {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "event-1"}})
        self.requests.append(request)
        if self.tokens is not None and request.token not in self.tokens:
            return status(401, "Unauthorized")
        reply = self._fault(request)
        return reply or self._right_answer(request)

    def _fault(self, request):
        for index, (method, part, reply, stays) in enumerate(self.faults):
            if method == request.method and part in request.path:
                if not stays:
                    del self.faults[index]
                return reply(request) if callable(reply) else reply
        return None

    def _right_answer(self, request):
        path = unquote(request.route)
        if path == self.node_path:
            return self._node(request)
        if path.startswith("/api/v1/nodes/") and path.count("/") == 4 and request.method == "GET":
            return self._missing("nodes", path)
        if path in (GROUP_PATH, f"{GROUP_PATH}/v1alpha1") and request.method == "GET":
            return json_reply(200, self._group(path)) if self.served else unknown_path()
        if path == f"{GROUP_PATH}/v1alpha1/nodefeatures" and request.method == "GET":
            return self._list(request) if self.served else unknown_path()
        if path.startswith(f"{GROUP_PATH}/v1alpha1/namespaces/"):
            return self._object(request, path, f"nodefeatures.{GROUP}") if self.served else unknown_path()
        if path.startswith("/api/v1/namespaces/") and "/pods/" in path and request.method == "GET":
            return self._object(request, path, "pods")
        self.surprises.append(request)
        return unknown_path()

    def _list(self, request):
        """NodeFeature objects of all namespaces, by a selector "label=value"."""
        key, _, value = request.query.get("labelSelector", "").partition("=")
        items = [item for path, item in sorted(self.objects.items()) if "/nodefeatures/" in path
                 and (not key or item["metadata"].get("labels", {}).get(key) == value)]
        return json_reply(200, {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
                                "metadata": {"resourceVersion": str(self.version)},
                                "items": [{"metadata": item["metadata"]} for item in items]})

    @staticmethod
    def _group(path):
        version = {"groupVersion": f"{GROUP}/v1alpha1", "version": "v1alpha1"}
        if path == GROUP_PATH:
            return {"kind": "APIGroup", "apiVersion": "v1", "name": GROUP, "versions": [version],
                    "preferredVersion": version}
        kinds = [{"name": "nodefeatures", "singularName": "nodefeature", "namespaced": True, "kind": "NodeFeature",
                  "verbs": ["delete", "get", "list", "patch", "create", "update", "watch"]}]
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{GROUP}/v1alpha1", "resources": kinds}

    @staticmethod
    def _missing(kind, path):
        name = path.rsplit("/", 1)[1]
        plain, _, group = kind.partition(".")
        details = {"name": name, "kind": plain, **({"group": group} if group else {})}
        return status(404, f'{kind} "{name}" not found', details)

    def _fields(self):
        return self.node["metadata"]["managedFields"]

    def _changed(self):
        self.version += 1
        self.node["metadata"]["resourceVersion"] = str(self.version)
        self.history.append(dict(self.labels))

    def _node(self, request):
        if not self.node:
            if request.method == "PATCH" and "uid" in request.json().get("metadata", {}):
                return status(409, f'Operation cannot be fulfilled on nodes "{self.name}": uid mismatch: the provided '
                              "object specified uid, and no existing object was found", {"kind": "nodes"})
            return self._missing("nodes", request.route)
        if request.method == "GET":
            return self._shown(request)
        kind = request.headers.get("Content-Type", "").partition(";")[0]
        if request.method == "PATCH" and kind == JSON_PATCH:
            return self._json_patch(request)
        if request.method == "PATCH" and kind == APPLY:
            return self._apply(request)
        self.surprises.append(request)
        return status(415 if request.method == "PATCH" else 405, "the fake does not know this")

    def _shown(self, request):
        if "as=PartialObjectMetadata" in request.headers.get("Accept", "").replace(" ", ""):
            return json_reply(200, {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                                    "metadata": self.node["metadata"]})
        return json_reply(200, self.node)

    def _json_patch(self, request):
        node = copy.deepcopy(self.node)
        try:
            for step in request.json():
                pointer = _Pointer(node, step["path"])
                if step["op"] == "test":
                    if pointer.get() != step["value"]:
                        raise KeyError(step["path"])
                elif step["op"] == "replace":
                    pointer.replace(step["value"])
                elif step["op"] == "remove":
                    pointer.remove()
                else:
                    raise ValueError(step["op"])
        except (KeyError, IndexError, ValueError, TypeError):
            return status(422, "the server rejected our request due to an error in our request")
        self.node = node
        self._changed()
        return self._shown(request)

    def _apply(self, request):
        manager, wanted = request.query.get("fieldManager"), request.json()["metadata"]
        labels, metadata = wanted.get("labels", {}), self.node["metadata"]
        if wanted.get("uid", metadata["uid"]) != metadata["uid"]:
            return status(409, f'Operation cannot be fulfilled on nodes "{self.name}": Precondition failed: UID in '
                          f"precondition: {wanted['uid']}, UID in object meta: {metadata['uid']}", {"kind": "nodes"})
        others = [item for item in self._fields() if (item["manager"], item["operation"]) != (manager, "Apply")]
        owners = {key: item["manager"] for item in others for key in owned_keys(item)}
        conflicts = {key: owners[key] for key in labels if key in owners and labels[key] != self.labels.get(key)}
        if conflicts:
            return field_conflict(conflicts)
        before = json.dumps(metadata, sort_keys=True)
        for key in set(self.owned(manager)) - set(labels) - set(owners):
            self.labels.pop(key, None)
        self.labels.update(labels)
        metadata["managedFields"] = others + ([entry(manager, labels)] if labels else [])
        if json.dumps(metadata, sort_keys=True) != before:
            self._changed()
        return self._shown(request)

    def _object(self, request, path, kind):
        if request.method == "PATCH":
            return self._patch_object(request, path)
        if path not in self.objects:
            return self._missing(kind, path)
        if request.method == "DELETE":
            options = request.json() if request.body else {}
            wanted = options.get("preconditions", {}).get("resourceVersion")
            if wanted not in (None, self._version_of(path)):
                return changed_meanwhile(path)
            del self.objects[path]
            return json_reply(200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"})
        if request.method == "GET":
            return json_reply(200, self.objects[path])
        self.surprises.append(request)
        return status(405, "the fake does not know this")

    def _version_of(self, path):
        return self.objects.get(path, {}).get("metadata", {}).get("resourceVersion")

    def _patch_object(self, request, path):
        """JSON patch, or forced apply: what was sent replaces what was there, which nobody else writes."""
        now = self.objects.get(path)
        if request.headers["Content-Type"].startswith(JSON_PATCH):
            value = copy.deepcopy(now)
            for step in request.json():
                _Pointer(value, step["path"]).replace(step["value"])
        else:
            value = request.json()
            if now and loses_a_map(now, value):
                return status(422, "in body must be of type object: \"null\"")
        wanted = value["metadata"].get("resourceVersion")
        if wanted not in (None, self._version_of(path)):
            return changed_meanwhile(path)
        self.version += 1
        namespace, name = path.split("/")[-3], path.split("/")[-1]
        value["metadata"] = {"uid": f"uid-of-{name}", "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 1,
                             **value["metadata"], "namespace": namespace, "name": name,
                             "resourceVersion": str(self.version),
                             "managedFields": [entry(request.query.get("fieldManager"), [])]}
        self.objects[path] = value
        return json_reply(200 if now else 201, value)


def daemon_set_pod(name, owner="nfd-source-ds", uid="uid-ds"):
    """A pod that a DaemonSet controls."""
    reference = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": owner, "uid": uid, "controller": True,
                 "blockOwnerDeletion": True}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "uid": "uid-pod", "ownerReferences": [reference]}}
