{{/* Refuses labels that the chart gives itself: `dict "name" "commonLabels" "labels" $labels`. */}}
{{- define "keyplane.refuseOwnLabels" -}}
{{- range $label, $_ := .labels -}}
{{- if regexMatch "^app\\.kubernetes\\.io/(name|instance|component|managed-by)$" $label -}}
{{- fail (printf "%s: %s is the chart's own, by which pods are found: leave it out" $.name $label) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Refuses names that the chart takes itself, and those that are there twice: `dict "name" "server.extraVolumes" "items" $items "own" "^regex$"`. */}}
{{- define "keyplane.refuseOwnNames" -}}
{{- $names := list -}}
{{- range .items -}}
{{- if or (regexMatch $.own .name) (has .name $names) -}}
{{- fail (printf "%s: the name %s is the chart's own, or there twice: choose another" $.name .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- end -}}

{{/* Refuses what is no range of addresses: `dict "name" "server.trustedProxies" "ranges" $ranges "single" true`, the last where one address will do. */}}
{{- define "keyplane.refuseRanges" -}}
{{- $octet := "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])" -}}
{{- $v4 := printf "(%s\\.){3}%s" $octet $octet -}}
{{- $of4 := printf "^%s/([0-9]|[12][0-9]|3[0-2])$" $v4 -}}
{{- $of6 := printf "^(([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{0,4}:){2,7}(%s|[0-9a-fA-F]{0,4}))/([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])$" $v4 -}}
{{- range .ranges -}}
{{- $whole := ternary (ternary (printf "%s/128" .) (printf "%s/32" .) (contains ":" .)) . (and ($.single | default false) (not (contains "/" .))) -}}
{{- $isTwice := or (contains ":::" .) (regexMatch "::.*::" .) -}}
{{- $isShort := and (contains ":" .) (not (contains "::" .)) (lt (len (splitList ":" .)) 7) -}}
{{- if or $isTwice $isShort (not (or (regexMatch $of4 $whole) (regexMatch $of6 $whole))) -}}
{{- fail (printf "%s: %s is no range of addresses: write one such as 10.0.0.0/8, with at most /32, or fd00::/8, with at most /128" $.name .) -}}
{{- end -}}
{{- if not (contains ":" .) -}}
{{- $address := 0 -}}
{{- range splitList "." (first (splitList "/" $whole)) -}}{{- $address = add (mul $address 256) (int .) -}}{{- end -}}
{{- $size := 1 -}}
{{- range until (int (sub 32 (int (last (splitList "/" $whole))))) -}}{{- $size = mul $size 2 -}}{{- end -}}
{{- if mod $address $size -}}
{{- fail (printf "%s: %s has bits behind its length: write the network's first address, or /32 for this one address" $.name .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
