{{/*
Variables of a container: its own, those of the chart's values, and for each Secret the file it is mounted as.
Takes variables (name to value), and secrets (variable to {secret, key}).
*/}}
{{- define "sluice.env" -}}
{{- range $name, $value := .variables }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- range $name, $from := .secrets }}
- name: {{ $name }}_FILE
  value: /run/secrets/sluice/{{ $name }}
{{- end }}
{{- end -}}

{{/* The volume those files are in. Takes secrets (name of the file to {secret, key}). */}}
{{- define "sluice.secretsVolume" -}}
- name: secrets
  projected:
    # Readable by the pod's group (fsGroup).
    defaultMode: 0440
    sources:
    {{- range $name, $from := .secrets }}
      - secret:
          name: {{ $from.secret }}
          items: [{ key: {{ $from.key | quote }}, path: {{ $name }} }]
    {{- end }}
{{- end -}}

{{- define "sluice.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "sluice.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end -}}
