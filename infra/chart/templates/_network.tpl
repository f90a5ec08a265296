{{- define "keyplane.ingressOfMetrics" -}}
- ports: [{port: 8081}]
  from:
    - namespaceSelector:
        matchLabels:
          {{- toYaml .Values.networkPolicy.metricsFrom | nindent 10 }}
{{- end -}}

{{/* Of the proxies that ask the verifier. Nothing without a name: a rule without peers would let all in. */}}
{{- define "keyplane.ingressOfAuthz" -}}
{{- $peers := include "keyplane.peers" .Values.networkPolicy.authzFrom | trim -}}
{{- if and .Values.authz.enabled $peers -}}
- ports: [{port: 9090}{{ if .Values.authz.grpc }}, {port: 9091}{{ end }}]
  from:
    {{- $peers | nindent 4 }}
{{- end }}
{{- end -}}

{{/* To name servers and PostgreSQL, wherever they are unless databaseTo says. */}}
{{- define "keyplane.egressToDatabase" -}}
{{- $peers := include "keyplane.peers" .Values.networkPolicy.databaseTo | trim -}}
- ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
    {{- if not $peers }}
    - port: {{ .Values.networkPolicy.databasePort }}
    {{- end }}
{{- with $peers }}
- ports: [{port: {{ $.Values.networkPolicy.databasePort }}}]
  to:
    {{- . | nindent 4 }}
{{- end }}
{{- end -}}

{{/* A rule of egress to some ports: `dict "ports" $ports "to" $peers`. Nothing without ports. */}}
{{- define "keyplane.egress" -}}
{{- with .ports -}}
- ports:
    {{- range . }}
    - port: {{ . }}
    {{- end }}
  {{- with include "keyplane.peers" $.to | trim }}
  to:
    {{- . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Peers of a NetworkPolicy, as `{cidrs: [], namespaces: []}` names them: nothing for all. */}}
{{- define "keyplane.peers" -}}
{{- range .cidrs }}
- ipBlock: {cidr: {{ . | quote }}}
{{- end }}
{{- with .namespaces }}
- namespaceSelector:
    matchExpressions:
      - {key: kubernetes.io/metadata.name, operator: In, values: {{ toJson . }}}
{{- end }}
{{- end -}}

{{- define "keyplane.ipFamilies" -}}
{{- with .Values.service.ipFamilyPolicy }}
ipFamilyPolicy: {{ . }}
{{- end }}
{{- with .Values.service.ipFamilies }}
ipFamilies: {{ toJson . }}
{{- end }}
{{- end -}}
