{{/* Whether a kind of the Prometheus Operator is made: `dict "root" . "kind" "ServiceMonitor"`. */}}
{{- define "keyplane.hasKind" -}}
{{- if or (eq .root.Values.metrics.renderMode "alwaysRender") (.root.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" .kind)) -}}
yes
{{- else if eq .root.Values.metrics.renderMode "failIfMissing" -}}
{{- fail (printf "metrics: the cluster has no kind %s of monitoring.coreos.com/v1: install the Prometheus Operator first, or leave it out by metrics.renderMode=skipIfMissing. Without a cluster, name the kind: --api-versions monitoring.coreos.com/v1/%s" .kind .kind) -}}
{{- end -}}
{{- end -}}

{{/* The kinds that values ask for and the cluster does not have, in words. */}}
{{- define "keyplane.missingKinds" -}}
{{- $missing := list -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not (include "keyplane.hasKind" (dict "root" . "kind" "ServiceMonitor"))) -}}
{{- $missing = append $missing "ServiceMonitor" -}}
{{- end -}}
{{- if and .Values.metrics.rules.enabled (not (include "keyplane.hasKind" (dict "root" . "kind" "PrometheusRule"))) -}}
{{- $missing = append $missing "PrometheusRule" -}}
{{- end -}}
{{- join ", " $missing -}}
{{- end -}}
