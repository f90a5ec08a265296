import { collectDefaultMetrics, Registry } from "@prometheus-io/client";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { documentedMetrics } from "../env/metrics.ts";
import { read } from "./sources.ts";

type Alert = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
};

const { groups } = parse(read("infra/chart/files/alerts.yaml")) as {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);
const RUNBOOKS = read("docs/operations/runbooks.md");

/** What Prometheus may know of us: our own metrics, and what the client library tells of the process. */
const known = new Set(documentedMetrics());
const process = new Registry();
collectDefaultMetrics({ register: process });
for (const { name } of process.getMetricsAsArray()) known.add(name);

/** The metrics that an expression of PromQL names and nobody tells; a histogram by its series. */
function unknownMetrics(expr: string): string[] {
  const named =
    expr.match(/\b(?:keyplane|controller_runtime|workqueue|rest_client|leader_election|nodejs|process)_\w+/g) ?? [];
  return named.filter((name) => !known.has(name) && !known.has(name.replace(/_(bucket|count|sum)$/, "")));
}

describe("the alerts", () => {
  it.each(alerts)("$alert names metrics that there are", ({ expr }) => {
    expect(expr).toMatch(/[a-z]_/);
    expect(unknownMetrics(expr)).toEqual([]);
  });

  it.each(alerts)(
    "$alert says how bad it is, what is wrong, and where to read on",
    ({ alert, labels, annotations }) => {
      expect(["critical", "warning"]).toContain(labels.severity);
      expect(annotations.summary).toMatch(/^[A-Z][^{}]+[^.]$/);
      expect(annotations.description).toMatch(/\.$/);
      expect(annotations.runbook).toBe(`docs/operations/runbooks.md#${alert.toLowerCase()}`);
    },
  );

  it("have each a runbook, and each runbook its alert", () => {
    const runbooks = [...RUNBOOKS.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(runbooks).toEqual(alerts.map(({ alert }) => alert));
  });

  it("have runbooks that say what it means, who notices what, how to look and what to do", () => {
    const parts = RUNBOOKS.split(/^### /m).slice(1);
    const bare = parts.filter((part) => !/Means:.*Users notice:.*Check:.*Do:/s.test(part));
    expect(bare.map((part) => part.split("\n")[0])).toEqual([]);
  });

  it("have runbooks whose queries name metrics that there are", () => {
    expect(unknownMetrics(RUNBOOKS)).toEqual([]);
  });
});
