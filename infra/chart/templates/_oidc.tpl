{{/* The issuers' flags: lists in one order, in which - stands for none. */}}
{{- define "keyplane.oidcArgs" -}}
{{- with .Values.oidc }}
{{- if .issuers }}
{{- $urls := list }}
{{- $clientIds := list }}
{{- $secretFiles := list }}
{{- range $i, $issuer := .issuers }}
{{- $urls = append $urls $issuer.url }}
{{- $clientIds = append $clientIds ($issuer.clientId | default "-") }}
{{- $secretFiles = append $secretFiles (ternary (printf "/etc/keyplane/oidc/%d/secret" $i) "-" (hasKey $issuer "clientSecret")) }}
{{- end }}
- {{ printf "--oidc-issuer=%s" (join "," $urls) | quote }}
- {{ printf "--oidc-audience=%s" .audience | quote }}
{{- with .adminGroups }}
- {{ printf "--oidc-admin-groups=%s" (join "," .) | quote }}
{{- end }}
{{- if without $clientIds "-" }}
- {{ printf "--oidc-client-id=%s" (join "," $clientIds) | quote }}
{{- if without $secretFiles "-" }}
- --oidc-client-secret-file={{ join "," $secretFiles }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "keyplane.oidcMounts" -}}
{{- range $i, $issuer := .Values.oidc.issuers }}
{{- if $issuer.clientSecret }}
- {name: oidc-{{ $i }}, mountPath: /etc/keyplane/oidc/{{ $i }}, readOnly: true}
{{- end }}
{{- end }}
{{- end -}}

{{- define "keyplane.oidcVolumes" -}}
{{- range $i, $issuer := .Values.oidc.issuers }}
{{- with $issuer.clientSecret }}
{{ include "keyplane.secretVolume" (dict "name" (printf "oidc-%d" $i) "secret" .name "key" .key "path" "secret") }}
{{- end }}
{{- end }}
{{- end -}}
