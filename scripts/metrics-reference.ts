import type { Registry } from "@prometheus-io/client";
import { createControllerMetrics } from "../controller/metrics.ts";
import { observeObjects } from "../controller/object-metrics.ts";
import { createMetrics } from "../processes/metrics.ts";
import { observeCalls } from "../server/calls/call-metrics.ts";
import { observeUpstreams } from "../server/gateway/upstream/upstream-metrics.ts";
import { observeAnswers } from "../server/http/answers/answer-metrics.ts";
import { observeCertificate } from "../server/http/connections/certificate.ts";
import { observePipelining } from "../server/http/connections/pipelining-metrics.ts";
import { observeIndex } from "../server/key-index/metrics.ts";
import { leakMetrics } from "../server/leaks/metrics.ts";

const HEAD = `<!-- Generated from the metrics' definitions by scripts/generate.ts. -->
# Metrics

\`/metrics\` on the admin port exposes these in the text format of Prometheus. A name ends in its unit. Servers and controllers also expose their process's \`process_*\` and \`nodejs_*\`. What to watch, and the alerts: [monitoring](../operations/monitoring.md).`;

/** Returns the reference page of all metrics of ours, in Markdown. */
export function renderMetrics(): string {
  return [HEAD, ...table("Servers", serverRegistry()), ...table("Controllers", controllerRegistry()), ""].join("\n");
}

/** Returns the metrics that a server registers; they are never read. */
function serverRegistry(): Registry {
  const { registry } = createMetrics();
  observeIndex(registry, unread);
  observeCalls(registry, { figures: unread });
  observeAnswers(registry, { figures: unread });
  observePipelining(registry, { waiting: 0 });
  observeCertificate(registry, unread);
  observeUpstreams(registry, { figures: unread }, { credentialsRefused: 0, retries: 0 });
  leakMetrics(registry);
  return registry;
}

/** Returns the metrics that a controller registers; they are never read. */
function controllerRegistry(): Registry {
  const metrics = createControllerMetrics();
  metrics.observeWatches(unread);
  observeObjects(metrics.registry, { list: unread }, unread);
  return metrics.registry;
}

function unread(): never {
  throw new Error("the reference is made of definitions: nothing is read");
}

function table(title: string, registry: Registry): string[] {
  const rows = registry
    .getMetricsAsArray()
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((metric) => {
      const { name, type, help } = metric;
      // The registry gives the metrics themselves, of which its types leave out the labels.
      const labels = "labelNames" in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [];
      return `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`;
    });
  return ["", `## ${title}`, "", "| metric | type | labels | meaning |", "|---|---|---|---|", ...rows];
}
