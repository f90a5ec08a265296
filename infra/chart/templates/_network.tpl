{{- define "keyplane.ingressOfMetrics" -}}
- ports: [{port: 8081}]
  from:
    - namespaceSelector:
        matchLabels:
          {{- toYaml .Values.networkPolicy.metricsFrom | nindent 10 }}
{{- end -}}

{{/* To name servers and PostgreSQL, wherever they are. */}}
{{- define "keyplane.egressToDatabase" -}}
- ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
    - port: {{ .Values.networkPolicy.databasePort }}
{{- end -}}
