{{/* Name of all resources of the chart. */}}
{{- define "sluice.name" -}}
{{- $name := .Values.fullnameOverride | default (ternary .Release.Name (printf "%s-sluice" .Release.Name) (contains "sluice" .Release.Name)) -}}
{{- $name | replace "." "-" | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that select its pods. Takes root and component. */}}
{{- define "sluice.selector" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "sluice.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end -}}

{{/* Protocol of an interface, which is also the name of its port, because some proxies read it there. Takes its settings. */}}
{{- define "sluice.scheme" -}}
{{- if .tls.secret }}https{{ else }}http{{ end -}}
{{- end -}}

{{/* Address of the gateways as clients reach it: that of the ingress unless INGEST_URL is set; empty if unknown. */}}
{{- define "sluice.ingestUrl" -}}
{{- $given := merge (dict) .Values.controlPlane.env .Values.env -}}
{{- $ingress := .Values.gateway.ingress | default dict -}}
{{- if $given.INGEST_URL -}}
{{ $given.INGEST_URL }}
{{- else if and $ingress.enabled (not (contains "*" $ingress.host)) -}}
{{ ternary "https" "http" (not (empty $ingress.tlsSecret)) }}://{{ $ingress.host }}
{{- end -}}
{{- end -}}

{{- define "sluice.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "sluice.name" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}
