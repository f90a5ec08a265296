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

{{/* The labels of every object; with a component's, and with those that values give: `dict "root" . "component" "server" "more" $labels`. */}}
{{- define "keyplane.labels" -}}
{{- $chart := printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" -}}
{{- $own := dict "app.kubernetes.io/version" .root.Chart.AppVersion "app.kubernetes.io/part-of" "keyplane" -}}
{{- $_ := set $own "helm.sh/chart" $chart -}}
{{ include "keyplane.selector" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{ merge dict (.more | default dict) .root.Values.commonLabels $own | toYaml }}
{{- end -}}

{{/* The labels that pods are found by. They never change: a Deployment's selector cannot. */}}
{{- define "keyplane.selector" -}}
app.kubernetes.io/name: keyplane
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* The metadata of a component's pods. */}}
{{- define "keyplane.podMetadata" -}}
labels:
  {{- include "keyplane.selector" . | nindent 2 }}
  {{- with merge dict .of.podLabels .root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .of.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The ServiceAccount of a component: nothing for the namespace's own. */}}
{{- define "keyplane.serviceAccount" -}}
{{- if .of.serviceAccount.name -}}
{{- .of.serviceAccount.name -}}
{{- else if .of.serviceAccount.create -}}
{{- printf "%s-%s" (include "keyplane.fullname" .root) .component -}}
{{- end -}}
{{- end -}}

{{/* The controller's, which has rights. */}}
{{- define "keyplane.controllerAccount" -}}
{{- include "keyplane.serviceAccount" (dict "root" . "component" "controller" "of" .Values.controller) -}}
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
{{- else if and .Values.ingress.enabled .Values.ingress.host -}}
{{ ternary "https" "http" (ne .Values.ingress.tlsSecret "") }}://{{ .Values.ingress.host }}
{{- else -}}
{{- $tls := ne .Values.tls.existingSecret "" -}}
{{- $port := int .Values.service.port -}}
{{ ternary "https" "http" $tls }}://{{ include "keyplane.fullname" . }}-server.{{ .Release.Namespace }}.svc
{{- if ne $port (ternary 443 80 $tls) }}:{{ $port }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* The host of the public URL, without its port. */}}
{{- define "keyplane.publicHost" -}}
{{- (include "keyplane.publicUrl" . | urlParse).host | lower | regexFind "^([^:]+|\\[.*\\])" -}}
{{- end -}}

{{/*
The environment of a component's container: `dict "root" . "component" "server" "of" .Values.server`. A name that is there
twice would be refused by the API server without a word on where it comes from.
*/}}
{{- define "keyplane.env" -}}
{{- $own := list (dict "name" "KEYPLANE_DATABASE_URL_FILE" "value" "/etc/keyplane/database/url") -}}
{{- if include "keyplane.databaseCaVolume" .root -}}
{{- $own = append $own (dict "name" "KEYPLANE_DATABASE_CA_FILE" "value" "/etc/keyplane/database-ca/ca.crt") -}}
{{- end -}}
{{- if .root.Values.trustedCa.existingConfigMap -}}
{{- $own = append $own (dict "name" "NODE_EXTRA_CA_CERTS" "value" "/etc/keyplane/trusted-ca/ca.crt") -}}
{{- end -}}
{{- with .of.nodeOptions -}}
{{- $own = append $own (dict "name" "NODE_OPTIONS" "value" .) -}}
{{- end -}}
{{- $names := list -}}
{{- range concat $own .of.extraEnv -}}
{{- if has .name $names -}}
{{- fail (printf "%s.extraEnv: %s is set by the chart, or twice: leave it out, and say it by the value that it belongs to (database, trustedCa, nodeOptions)" $.component .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{ concat $own .of.extraEnv | toYaml }}
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
{{- include "keyplane.caVolume" (dict "name" "database-ca" "of" .Values.database.ca) -}}
{{- end -}}

{{/* An authority, as `ca.crt`, of a ConfigMap or a Secret: `dict "name" "database-ca" "of" .Values.database.ca`. Nothing without one. */}}
{{- define "keyplane.caVolume" -}}
{{- $name := .name -}}
{{- with .of -}}
{{- if .existingSecret -}}
{{ include "keyplane.secretVolume" (dict "name" $name "secret" .existingSecret "key" .key "path" "ca.crt") }}
{{- else if .existingConfigMap -}}
- name: {{ $name }}
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
    # 0440, for the pod's group alone to read; YAML 1.2 takes that for a decimal number.
    defaultMode: 288
    items: [{key: {{ .key | quote }}, path: {{ .path }}}]
{{- end -}}

{{- define "keyplane.encryptionKeyVolume" -}}
{{- with .Values.encryptionKey -}}
{{ include "keyplane.secretVolume" (dict "name" "encryption-key" "secret" .existingSecret "key" .key "path" "keys") }}
{{- end -}}
{{- end -}}

{{/* Where pods that go on go: apart from their like if it can be, and as the values say. */}}
{{- define "keyplane.placement" -}}
{{- with .of.topologySpreadConstraints -}}
topologySpreadConstraints:
  {{- range . }}
  {{- $own := ternary dict (dict "labelSelector" (dict "matchLabels" (include "keyplane.selector" $ | fromYaml))) (hasKey . "labelSelector") }}
  - {{- merge dict . $own | toYaml | nindent 4 }}
  {{- end }}
{{- end }}
{{- with include "keyplane.nodes" .of | trim }}
{{ . }}
{{- end }}
{{- end -}}

{{/* How a Deployment exchanges its pods: one of type Recreate has no numbers. */}}
{{- define "keyplane.strategy" -}}
revisionHistoryLimit: {{ .revisionHistoryLimit }}
strategy:
  {{- if eq (toString .strategy.type) "Recreate" }}
  type: Recreate
  {{- else }}
  {{- toYaml .strategy | nindent 2 }}
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
    name: {{ include "keyplane.controllerAccount" .root }}
    namespace: {{ .root.Release.Namespace | quote }}
{{- end -}}
