{{- /* SPDX-License-Identifier: GPL-2.0-or-later */ -}}

{{- /*
What each mode turns on. All else follows from it: features.d is mounted where the file is written, rights on NodeFeature
objects and on Nodes are there where these are written, and a token where there is any right.
*/ -}}
{{- define "nfd-source.modes" -}}
feature-file: {featureFile: "on", nodeFeature: "off", nodeLabels: "off"}
with-nfd: {featureFile: "on", nodeFeature: "off", nodeLabels: fallback}
node-feature: {featureFile: "off", nodeFeature: "on", nodeLabels: fallback}
standalone: {featureFile: "off", nodeFeature: "off", nodeLabels: fallback}
worker: {featureFile: "off", nodeFeature: worker, nodeLabels: fallback}
{{- end }}

{{- /* The row of our mode, with "yes" or nothing for each output. */ -}}
{{- define "nfd-source.outputs" -}}
{{- range $output, $value := get (include "nfd-source.modes" . | fromYaml) .Values.mode }}
{{ $output }}: {{ ternary "" "yes" (eq $value "off") | quote }}
{{- end }}
{{- end }}

{{- /* settings.sources as a map: "sources: all" is a word for one with a mode. */ -}}
{{- define "nfd-source.sources" -}}
{{- $sources := .Values.settings.sources | default dict -}}
{{- if kindIs "string" $sources -}}
{{- $sources = dict "mode" $sources -}}
{{- end -}}
{{- toYaml $sources -}}
{{- end }}

{{- /*
"yes" where nfd-worker's sources may be read: they need more of the host, and features.d, where other programs' labels are.
With the feature file alone "auto" leaves them to the nfd-worker that reads it.
*/ -}}
{{- define "nfd-source.nfdSources" -}}
{{- $mode := (include "nfd-source.sources" . | fromYaml).mode | default "own" -}}
{{- $auto := and (eq $mode "auto") (ne .Values.mode "feature-file") -}}
{{- if or (eq .Values.mode "worker") (eq $mode "all") $auto }}yes{{ end -}}
{{- end }}

{{- /* Nothing when the values go together; else it ends with what does not. */ -}}
{{- define "nfd-source.check" -}}
{{- if eq .Values.mode "worker" -}}
{{- if ne ((include "nfd-source.sources" . | fromYaml).mode | default "all") "all" -}}
{{- fail "mode: worker needs settings.sources.mode: all, which it is by itself" -}}
{{- end -}}
{{- if not .Values.hostFolders -}}
{{- fail "hostFolders: false needs mode node-feature or standalone: worker would take away labels of nfd-worker whose facts are in folders of the host" -}}
{{- end -}}
{{- end -}}
{{- if not .Values.hostFolders -}}
{{- if (include "nfd-source.outputs" . | fromYaml).featureFile -}}
{{- fail (printf "hostFolders: false needs mode node-feature or standalone: %s writes features.d, a folder of the host" .Values.mode) -}}
{{- end -}}
{{- if .Values.metrics.textfile.enabled -}}
{{- fail "hostFolders: false needs metrics.textfile.enabled: false: that file is in a folder of the host" -}}
{{- end -}}
{{- range .Values.extraVolumes -}}
{{- if hasKey . "hostPath" -}}
{{- fail (printf "hostFolders: false, but volume %s of extraVolumes is a folder of the host" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* nfd-source.yaml: the mode's outputs, the metrics file, and over them the values. */ -}}
{{- define "nfd-source.settings" -}}
{{- $outputs := dict -}}
{{- range $output, $value := get (include "nfd-source.modes" . | fromYaml) .Values.mode -}}
{{- $_ := set $outputs $output (dict "mode" $value) -}}
{{- end -}}
{{- $settings := dict "outputs" $outputs -}}
{{- if .Values.metrics.textfile.enabled -}}
{{- $path := printf "%s/nfd-source.prom" (trimSuffix "/" .Values.metrics.textfile.hostPath) -}}
{{- $_ := set $settings "metrics" (dict "path" $path) -}}
{{- end -}}
{{- $sources := dict -}}
{{- if and (not .Values.hostFolders) (include "nfd-source.nfdSources" .) -}}
{{- /* A pod sees no network device but its own. */ -}}
{{- $names := list "all" "-network" -}}
{{- $_ := set $settings "core" (dict "labelSources" $names "featureSources" $names) -}}
{{- end -}}
{{- if and (not .Values.hostFolders) (not .Values.nvidia.runtimeClassName) -}}
{{- /* Here a driver's library could only be the image's: this folder has none. */ -}}
{{- $_ := set $sources "nvidia" (dict "libraryDir" "/etc/nfd-source") -}}
{{- end -}}
{{- if .Values.nvidia.configMap.name -}}
{{- $_ := set $sources "vendor" (dict "nvidia" (dict "config" (include "nfd-source.gfdConfig" .))) -}}
{{- end -}}
{{- if $sources -}}
{{- $_ := set $settings "sources" $sources -}}
{{- end -}}
{{- $values := deepCopy .Values.settings -}}
{{- if $values.sources -}}
{{- /* What the chart sets there itself must stay beside a word. */ -}}
{{- $_ := set $values "sources" (include "nfd-source.sources" . | fromYaml) -}}
{{- end -}}
{{- mergeOverwrite $settings $values | toYaml -}}
{{- end }}

{{- /* Of the program's container; NVML's library needs more than the program. */ -}}
{{- define "nfd-source.resources" -}}
{{- $resources := deepCopy .Values.resources -}}
{{- if and .Values.nvidia.runtimeClassName .Values.nvidia.memoryLimit -}}
{{- $resources = mergeOverwrite $resources (dict "limits" (dict "memory" .Values.nvidia.memoryLimit)) -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end }}

{{- /* Where gpu-feature-discovery's configuration file is mounted, among our settings. */ -}}
{{- define "nfd-source.gfdConfig" -}}
/etc/nfd-source/gfd/config.yaml
{{- end }}

{{- define "nfd-source.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- /* The release's name, with ours unless that is in it. 63 bytes, which some names and label values may have. */ -}}
{{- define "nfd-source.fullname" -}}
{{- $name := include "nfd-source.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $full | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "nfd-source.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (ternary (include "nfd-source.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end }}

{{- define "nfd-source.selectorLabels" -}}
app.kubernetes.io/name: {{ include "nfd-source.name" . }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "nfd-source.labels" -}}
{{ include "nfd-source.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "nfd-source.image" -}}
{{- with .Values.image -}}
{{- .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}
