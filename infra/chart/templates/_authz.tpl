{{/* The verifier's flags: nothing where it is off. */}}
{{- define "keyplane.authzArgs" -}}
{{- with .Values.authz }}
{{- if .enabled }}
- --authz-port=9090
{{- if .grpc }}
- --authz-grpc-port=9091
{{- end }}
# Of all families that the admin port has.
- {{ printf "--authz-host=%s" (ternary "::" "0.0.0.0" (contains ":" $.Values.adminHost)) | quote }}
{{- if .tls.existingSecret }}
- --authz-tls-cert=/etc/keyplane/authz-tls/tls.crt
- --authz-tls-key=/etc/keyplane/authz-tls/tls.key
{{- end }}
{{- if include "keyplane.authzClientCaVolume" $ }}
- --authz-client-ca=/etc/keyplane/authz-client-ca/ca.crt
{{- end }}
{{- if .token.existingSecret }}
- --authz-token-file=/etc/keyplane/authz-token/token
{{- end }}
{{- with .addressHeader }}
- --authz-address-header={{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "keyplane.authzMounts" -}}
{{- range include "keyplane.authzVolumes" . | fromYamlArray }}
- {name: {{ .name }}, mountPath: /etc/keyplane/{{ .name }}, readOnly: true}
{{- end }}
{{- end -}}

{{- define "keyplane.authzVolumes" -}}
{{- with .Values.authz }}
{{- if .enabled }}
{{- with .tls.existingSecret }}
- name: authz-tls
  secret: {secretName: {{ . | quote }}, defaultMode: 288}
{{- end }}
{{- with include "keyplane.authzClientCaVolume" $ }}
{{ . }}
{{- end }}
{{- with .token }}
{{- if .existingSecret }}
{{ include "keyplane.secretVolume" (dict "name" "authz-token" "secret" .existingSecret "key" .key "path" "token") }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "keyplane.authzClientCaVolume" -}}
{{- include "keyplane.caVolume" (dict "name" "authz-client-ca" "of" .Values.authz.clientCa) -}}
{{- end -}}
