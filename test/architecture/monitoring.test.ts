import { Registry } from "@prometheus-io/client";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { observeProcess } from "../../runtime/process-metrics.ts";
import { makeProgram } from "../cli/command-line.ts";
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

/** What Prometheus may know of us: our own metrics, and what the client library reports of the process. */
const known = new Set(documentedMetrics());
const process = new Registry();
observeProcess(process);
for (const { name } of process.getMetricsAsArray()) known.add(name);

/** The metrics that an expression of PromQL names and no process exposes; a histogram by its series. */
function unknownMetrics(expr: string): string[] {
  const named =
    expr.match(/\b(?:keyplane|controller_runtime|workqueue|rest_client|leader_election|nodejs|process)_\w+/g) ?? [];
  return named.filter((name) => !known.has(name) && !known.has(name.replace(/_(bucket|count|sum)$/, "")));
}

type Panel = {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
};

const dashboard = JSON.parse(read("infra/chart/files/dashboard.json")) as {
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly Panel[];
};

/** Whether two panels have a cell of the grid in common. */
function overlap({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

describe("the alerts", () => {
  it.each(alerts)("$alert names metrics that there are", ({ expr }) => {
    expect(expr).toMatch(/[a-z]_|\bup\{/);
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

  it("have runbooks whose commands there are, with the flags that they name", async () => {
    const { commands } = await makeProgram();
    const named = [...RUNBOOKS.matchAll(/(?<=`|^)keyplane ([a-z][a-z-]*)([^`\n]*)/gm)];
    expect(named.length).toBeGreaterThan(8);
    const wrong = named.filter(([, name, rest = ""]) => {
      const command = commands.find((one) => one.name() === name);
      const flags = rest.match(/--[a-z-]+/g) ?? [];
      return command === undefined || flags.some((flag) => !command.options.some(({ long }) => long === flag));
    });
    expect(wrong.map(([line]) => line)).toEqual([]);
  });

  it("have runbooks whose queries name metrics that there are", () => {
    expect(unknownMetrics(RUNBOOKS)).toEqual([]);
  });
});

describe("the dashboard", () => {
  const drawn = dashboard.panels.filter(({ type }) => type !== "row");

  it.each(drawn)("$title names metrics that there are, of the data source that is chosen", ({ targets = [] }) => {
    expect(targets.length).toBeGreaterThan(0);
    expect(targets.flatMap(({ expr }) => unknownMetrics(expr))).toEqual([]);
    for (const { expr, datasource } of targets) {
      expect(expr).toContain('namespace="$namespace"');
      expect(datasource.uid).toMatch(/^\$\{datasource\}$/);
    }
  });

  it("has no two panels in one place, nor of one id, and none beside the grid", () => {
    const { panels } = dashboard;
    const both = panels.flatMap((a, i) =>
      panels.slice(i + 1).flatMap((b) => (overlap(a, b) || a.id === b.id ? [`${a.title}, ${b.title}`] : [])),
    );
    expect(both).toEqual([]);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  it("uses the variables that it has", () => {
    const { list } = dashboard.templating;
    expect(list[0]).toMatchObject({ name: "datasource", type: "datasource" });
    const used = [...JSON.stringify(dashboard.panels).matchAll(/\$\{?(\w+)/g)].map(([, name = ""]) => name);
    const known = [...list.map(({ name }) => name), "__rate_interval"];
    expect([...new Set(used)].toSorted()).toEqual(known.toSorted());
  });

  it("shows every metric of ours", () => {
    const exprs = JSON.stringify(dashboard.panels);
    const shown = (name: string) => exprs.includes(name);
    // How many names were put into the queue, and for how long, is what its depth comes of.
    const left = ["workqueue_adds_total", "workqueue_queue_duration_seconds", "workqueue_work_duration_seconds"];
    expect([...documentedMetrics()].filter((name) => !shown(name)).toSorted()).toEqual(
      ["keyplane_key_lookups_total", ...left].toSorted(),
    );
  });
});
