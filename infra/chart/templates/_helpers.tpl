{{/* The prefix of all names: infra/rbac's own where the release is called keyplane. */}}
{{- define "keyplane.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" (.Release.Name | trunc 31 | trimSuffix "-") .Chart.Name -}}
{{- end -}}
{{- end -}}

{{/* The labels of every object; with a component's: `dict "root" . "component" "server"`. */}}
{{- define "keyplane.labels" -}}
{{ include "keyplane.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: keyplane
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The labels that pods are found by. They never change: a Deployment's selector cannot. */}}
{{- define "keyplane.selector" -}}
app.kubernetes.io/name: keyplane
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{- define "keyplane.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Where clients reach the servers. */}}
{{- define "keyplane.publicUrl" -}}
{{- if .Values.publicUrl -}}
{{ .Values.publicUrl }}
{{- else -}}
{{- $tls := ne .Values.tls.existingSecret "" -}}
{{- $port := int .Values.service.port -}}
{{ ternary "https" "http" $tls }}://{{ include "keyplane.fullname" . }}-server.{{ .Release.Namespace }}.svc
{{- if ne $port (ternary 443 80 $tls) }}:{{ $port }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* Of every pod: the restricted Pod Security Standard. */}}
{{- define "keyplane.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* Of every container: the same. */}}
{{- define "keyplane.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* What is common to the containers of all components: `dict "root" . "of" .Values.server`. */}}
{{- define "keyplane.env" -}}
- name: KEYPLANE_DATABASE_URL_FILE
  value: /etc/keyplane/database/url
{{- if include "keyplane.databaseCaVolume" .root }}
- name: KEYPLANE_DATABASE_CA_FILE
  value: /etc/keyplane/database-ca/ca.crt
{{- end }}
{{- if .root.Values.trustedCa.existingConfigMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/keyplane/trusted-ca/ca.crt
{{- end }}
{{- with .of }}
{{- with .nodeOptions }}
- name: NODE_OPTIONS
  value: {{ . | quote }}
{{- end }}
{{- with .extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The database's URL and its authority. The kubelet brings what changes in them into running pods. */}}
{{- define "keyplane.databaseMounts" -}}
- {name: database, mountPath: /etc/keyplane/database, readOnly: true}
{{- if include "keyplane.databaseCaVolume" . }}
- {name: database-ca, mountPath: /etc/keyplane/database-ca, readOnly: true}
{{- end }}
{{- end -}}

{{- define "keyplane.databaseVolumes" -}}
{{- with .Values.database -}}
{{ include "keyplane.secretVolume" (dict "name" "database" "secret" .existingSecret "key" .key "path" "url") }}
{{- end }}
{{- with include "keyplane.databaseCaVolume" . }}
{{ . }}
{{- end }}
{{- end -}}

{{- define "keyplane.databaseCaVolume" -}}
{{- with .Values.database.ca -}}
{{- if .existingSecret -}}
{{ include "keyplane.secretVolume" (dict "name" "database-ca" "secret" .existingSecret "key" .key "path" "ca.crt") }}
{{- else if .existingConfigMap -}}
- name: database-ca
  configMap:
    name: {{ .existingConfigMap | quote }}
    items: [{key: {{ .key | quote }}, path: ca.crt}]
{{- end }}
{{- end }}
{{- end -}}

{{- define "keyplane.trustedCaMount" -}}
{{- if .Values.trustedCa.existingConfigMap -}}
- name: trusted-ca
  mountPath: /etc/keyplane/trusted-ca
  readOnly: true
{{- end }}
{{- end -}}

{{- define "keyplane.trustedCaVolume" -}}
{{- with .Values.trustedCa -}}
{{- if .existingConfigMap -}}
- name: trusted-ca
  configMap:
    name: {{ .existingConfigMap | quote }}
    items: [{key: {{ .key | quote }}, path: ca.crt}]
{{- end }}
{{- end }}
{{- end -}}

{{/* A file of a Secret, as a volume: `dict "name" "encryption-key" "secret" "..." "key" "..." "path" "..."`. */}}
{{- define "keyplane.secretVolume" -}}
- name: {{ .name }}
  secret:
    secretName: {{ .secret | quote }}
    # Read by the pod's group alone.
    defaultMode: 0440
    items: [{key: {{ .key | quote }}, path: {{ .path }}}]
{{- end -}}

{{- define "keyplane.encryptionKeyVolume" -}}
{{- with .Values.encryptionKey -}}
{{ include "keyplane.secretVolume" (dict "name" "encryption-key" "secret" .existingSecret "key" .key "path" "keys") }}
{{- end -}}
{{- end -}}

{{/* Where pods that go on go: apart from their like if it can be, and as the values say. */}}
{{- define "keyplane.placement" -}}
topologySpreadConstraints:
  {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "keyplane.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- with include "keyplane.nodes" .of | trim }}
{{ . }}
{{- end }}
{{- end -}}

{{/* The nodes that pods go to, as the values of a component say. */}}
{{- define "keyplane.nodes" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* Of the admin listener. */}}
{{- define "keyplane.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: admin}
  periodSeconds: 2
  failureThreshold: 30
livenessProbe:
  httpGet: {path: /healthz, port: admin}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: admin}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
{{- end -}}

{{/*
The namespaces of keys that are there, and those that are gone or being deleted: `{"there": [...], "gone": [...]}`. Where
no cluster is asked, as by helm template and Argo CD, all are there.
*/}}
{{- define "keyplane.keyNamespaces" -}}
{{- $isAsked := lookup "v1" "Namespace" "" "kube-system" -}}
{{- $there := list -}}
{{- $gone := list -}}
{{- range .Values.keyNamespaces -}}
{{- $name := toString . -}}
{{- $found := lookup "v1" "Namespace" "" $name -}}
{{- if and $isAsked (or (not $found) $found.metadata.deletionTimestamp) -}}
{{- $gone = append $gone $name -}}
{{- else -}}
{{- $there = append $there $name -}}
{{- end -}}
{{- end -}}
{{- dict "there" $there "gone" $gone | toJson -}}
{{- end -}}

{{/* What a binding says: `dict "root" . "kind" "Role" "role" "..."`. */}}
{{- define "keyplane.grant" -}}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .role }}
subjects:
  - kind: ServiceAccount
    name: {{ include "keyplane.fullname" .root }}-controller
    namespace: {{ .root.Release.Namespace | quote }}
{{- end -}}
