{{/*
The pod of a service. Takes root, component, settings (its part of the values), variables, secrets, and the number
of its metrics port; port is that of its interface, if it has one. files (name to {secret, key}), if given, are mounted
beside the secrets, without a variable.
*/}}
{{- define "sluice.pod" -}}
{{- $values := .root.Values -}}
{{- $deadline := dict "SHUTDOWN_DEADLINE_MS" (int64 $values.shutdownDeadlineMs) "NATS_URL" $values.log.url -}}
{{- if $values.log.monitorUrl }}{{ $_ := set $deadline "NATS_MONITOR_URL" $values.log.monitorUrl }}{{ end -}}
{{- $variables := merge (dict) .settings.env .variables $deadline $values.env -}}
{{- $secrets := merge (dict) (.settings.secrets | default dict) .secrets $values.log.secrets -}}
{{- $files := merge (dict) $secrets (.files | default dict) -}}
metadata:
  labels:
    {{- include "sluice.labels" . | nindent 4 }}
  {{- with .settings.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .settings.podSpec }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  serviceAccountName: {{ include "sluice.serviceAccount" .root }}
  automountServiceAccountToken: false
  # Kubernetes would set GATEWAY_PORT to tcp://… for a Service of that name.
  enableServiceLinks: false
  {{- with $values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- include "sluice.podSecurityContext" . | nindent 4 }}
  terminationGracePeriodSeconds: {{ add $values.drainDelaySeconds (div (int64 $values.shutdownDeadlineMs) 1000) 10 }}
  topologySpreadConstraints:
    {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - topologyKey: {{ $key }}
      maxSkew: 1
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "sluice.selector" $ | nindent 10 }}
    {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "sluice.image" .root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [{{ .component }}]
      env:
        - name: INSTANCE_ID
          valueFrom: { fieldRef: { fieldPath: metadata.name } }
        {{- include "sluice.env" (dict "variables" $variables "secrets" $secrets) | trim | nindent 8 }}
      ports:
        {{- if .port }}
        - { name: http, containerPort: {{ .port }} }
        {{- end }}
        - { name: metrics, containerPort: {{ .metricsPort }} }
      # It may have to wait for the log and the database; after that a failed liveness check means a hang.
      startupProbe:
        httpGet: { path: /livez, port: metrics }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /livez, port: metrics }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: metrics }
        periodSeconds: 3
        timeoutSeconds: 3
        failureThreshold: 2
      lifecycle:
        preStop: { exec: { command: [sleep, {{ $values.drainDelaySeconds | quote }}] } }
      resources:
        {{- toYaml .settings.resources | nindent 8 }}
      securityContext:
        {{- include "sluice.containerSecurityContext" . | nindent 8 }}
      {{- if $files }}
      volumeMounts:
        - { name: secrets, mountPath: /run/secrets/sluice, readOnly: true }
      {{- end }}
  {{- if $files }}
  volumes:
    {{- include "sluice.secretsVolume" (dict "secrets" $files) | nindent 4 }}
  {{- end }}
{{- end -}}
