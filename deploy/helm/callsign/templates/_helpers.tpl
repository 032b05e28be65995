{{- define "callsign.labels" -}}
app.kubernetes.io/name: callsign
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* Takes root and role. */}}
{{- define "callsign.selector" -}}
app.kubernetes.io/name: callsign
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "callsign.fullname" -}}
{{- if eq .Release.Name "callsign" }}callsign{{ else }}{{ printf "%s-callsign" .Release.Name | trunc 50 }}{{ end }}
{{- end }}

{{- define "callsign.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
{{- end }}

{{- define "callsign.hardening" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
{{- end }}

{{/* The pod of a role. Takes root, role (all, or one name), settings. */}}
{{- define "callsign.pod" -}}
metadata:
  labels:
    {{- include "callsign.selector" . | nindent 4 }}
spec:
  automountServiceAccountToken: false
  # Kubernetes would set CALLSIGN_PORT and others for a Service with this name, and the server refuses settings that it does not know.
  enableServiceLinks: false
  terminationGracePeriodSeconds: 60
  securityContext:
    runAsNonRoot: true
    runAsUser: 57432
    runAsGroup: 57432
    fsGroup: 57432
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if ne .role "all" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "callsign.selector" . | nindent 10 }}
  {{- end }}
  {{- if .root.Values.keyringSecret }}
  # The server refuses a keyring that its group may read, and files of a Secret are such files.
  initContainers:
    - name: keyring
      image: {{ include "callsign.image" .root }}
      command: [install, -D, --mode=0600, /keyring/master, /data/keyring/master]
      securityContext:
        {{- include "callsign.hardening" . | nindent 8 }}
      volumeMounts:
        - {name: data, mountPath: /data}
        - {name: keyring, mountPath: /keyring, readOnly: true}
  {{- end }}
  containers:
    - name: callsign
      image: {{ include "callsign.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      securityContext:
        {{- include "callsign.hardening" . | nindent 8 }}
      env:
        - {name: CALLSIGN_ROLES, value: {{ .role }}}
        {{- if .root.Values.metrics.enabled }}
        - {name: CALLSIGN_METRICS_HOST, value: 0.0.0.0}
        - {name: CALLSIGN_METRICS_PORT, value: {{ .root.Values.metrics.port | quote }}}
        {{- end }}
        {{- if has .role (list "api" "worker" "gateway") }}
        - {name: CALLSIGN_SMTP_PORT, value: "off"}
        {{- end }}
        {{- if eq .role "gateway" }}
        - name: POD_IP
          valueFrom: {fieldRef: {fieldPath: status.podIP}}
        - {name: CALLSIGN_GATEWAY_HOST, value: 0.0.0.0}
        - {name: CALLSIGN_GATEWAY_PORT, value: "8081"}
        - {name: CALLSIGN_GATEWAY_ADDRESS, value: "$(POD_IP):8081"}
        {{- end }}
        {{- range $name, $value := merge (dict) (.settings | default dict) .root.Values.settings }}
        - {name: {{ $name }}, value: {{ $value | quote }}}
        {{- end }}
      {{- with .root.Values.secret }}
      envFrom:
        - secretRef: {name: {{ . }}}
      {{- end }}
      ports:
        - {name: http, containerPort: 8080}
        {{- if has .role (list "all" "smtp") }}
        - {name: smtp, containerPort: 2525}
        {{- end }}
        {{- if .root.Values.metrics.enabled }}
        - {name: metrics, containerPort: {{ .root.Values.metrics.port }}}
        {{- end }}
      startupProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 2
        failureThreshold: 150
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 5
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 10
        failureThreshold: 6
      resources:
        {{- toYaml .root.Values.resources | nindent 8 }}
      volumeMounts:
        - {name: data, mountPath: /data}
  volumes:
    {{- if eq .role "all" }}
    - {name: data, persistentVolumeClaim: {claimName: {{ include "callsign.fullname" .root }}}}
    {{- else }}
    - {name: data, emptyDir: {}}
    {{- end }}
    {{- with .root.Values.keyringSecret }}
    - {name: keyring, secret: {secretName: {{ . }}}}
    {{- end }}
{{- end }}
