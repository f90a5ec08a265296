import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createControllerMetrics } from "../../../controller/metrics.ts";
import { createMetrics } from "../../../processes/metrics.ts";
import { ALERT_RULES } from "../../env/alerts.ts";
import { findPromtool } from "../../env/promtool.ts";
import { ALERT_CASES, type Series } from "./alert-cases.ts";
import { manifestsIn, openHelm } from "./helm.ts";

const run = promisify(execFile);
const FILES = join(import.meta.dirname, "../../../infra/chart/files");
const DASHBOARD = join(FILES, "dashboard.json");

type Rules = { readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[] };

type Dashboard = { readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[] };

describe("the alerts, by promtool", () => {
  let promtool: string;
  let folder: string;

  beforeAll(async () => {
    promtool = await findPromtool();
    folder = await mkdtemp(join(tmpdir(), "keyplane-alerts-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("are rules and templates that Prometheus takes", async () => {
    await run(promtool, ["check", "rules", "--lint=all", "--lint-fatal", ALERT_RULES]);
  });

  it.each([
    ["servers", createMetrics],
    ["controllers", createControllerMetrics],
  ])("are about metrics of %s that Prometheus finds nothing wrong with", async (_, create) => {
    const checked = run(promtool, ["check", "metrics"]);
    checked.child.stdin?.end(await create().registry.metrics());
    expect(await checked).toEqual({ stdout: "", stderr: "" });
  });

  it("have a dashboard beside them whose expressions Prometheus takes", async () => {
    const { panels }: Dashboard = JSON.parse(await readFile(DASHBOARD, "utf8"));
    const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const rules = exprs.map((expr, i) => ({
      record: `panel:${i}`,
      expr: expr.replaceAll("$__rate_interval", "5m").replaceAll("$namespace", "keyplane-system"),
    }));
    const file = join(folder, "dashboard.yaml");
    await writeFile(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
    await run(promtool, ["check", "rules", "--lint=none", file]);
  });

  it("have each a case that fires and one that does not", async () => {
    const { groups }: Rules = parse(await readFile(ALERT_RULES, "utf8"));
    const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    expect(Object.keys(ALERT_CASES).toSorted()).toEqual(alerts.toSorted());
  });

  it("fire each when it should, and are each quiet when it should", async () => {
    const { groups }: Rules = parse(await readFile(ALERT_RULES, "utf8"));
    const files = Object.entries(ALERT_CASES).map(async ([alert, cases]) => {
      const tests = [
        ...cases.fires.map((series) => testOf(alert, series, true)),
        ...cases.quiet.map((series) => testOf(alert, series, false)),
      ];
      const [rules, file] = [join(folder, `${alert}.rules.yaml`), join(folder, `${alert}.yaml`)];
      // JSON is YAML. Promtool works out every rule for each minute of each test: none is about another's alert.
      const own = groups.map((group) => ({ ...group, rules: group.rules.filter((rule) => rule.alert === alert) }));
      await writeFile(rules, JSON.stringify({ groups: own }));
      await writeFile(file, JSON.stringify({ rule_files: [rules], evaluation_interval: "1m", tests }));
      return file;
    });
    // It names the file of each alert that does otherwise.
    await run(promtool, ["test", "rules", ...(await Promise.all(files))]);
  });

  it("fire for the release's own namespace where nothing of it is scraped, though another installation is well", async () => {
    const helm = await openHelm(folder);
    const monitored = ["--set", "metrics.rules.enabled=true,metrics.renderMode=alwaysRender"];
    const rule = manifestsIn(await helm.render(...monitored)).find(({ kind }) => kind === "PrometheusRule");
    const other = 'namespace="dev",instance="a:8081"';
    const series = [`keyplane_index_current{${other}}`, `leader_election_master_status{name="keyplane",${other}}`];
    const expr = 'count by (alertname, namespace) (ALERTS{alertstate="firing"})';
    const firing = ["KeyplaneControllerWithoutLeader", "KeyplaneNotServing"].map((alert) => ({
      ...{ labels: `{alertname="${alert}",namespace="keyplane-system"}`, value: 1 },
    }));
    const test = {
      interval: "1m",
      input_series: series.map((name) => ({ series: name, values: "1x90" })),
      promql_expr_test: [{ expr, eval_time: "90m", exp_samples: firing }],
    };
    const [rules, file] = [join(folder, "release.rules.yaml"), join(folder, "release.yaml")];
    await writeFile(rules, JSON.stringify(rule?.spec));
    await writeFile(file, JSON.stringify({ rule_files: [rules], evaluation_interval: "1m", tests: [test] }));
    await run(promtool, ["test", "rules", file]);
  });
});

/** A test of promtool's: whether the alert, alone of all, fires after an hour and a half. */
function testOf(alert: string, series: Series, fires: boolean) {
  const expr = `count by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})`;
  return {
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      { expr, eval_time: "90m", exp_samples: fires ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [] },
    ],
  };
}
