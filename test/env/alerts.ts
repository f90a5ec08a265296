/** The alerts of infra/chart, by Prometheus' own tool and by the metrics of processes. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { RARE_COLLECTION } from "./go/go-program.ts";
import { findPromtool } from "./promtool.ts";

export const ALERT_RULES = join(import.meta.dirname, "../../infra/chart/files/alerts.yaml");

const run = promisify(execFile);

/** A process as Prometheus finds it: `host:port` of its admin listener. */
export type Target = string;

/** What targets answered at a time, with the labels that a scrape of the Prometheus Operator gives. */
export type Scrape = {
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly samples: ReadonlyMap<string, Sample>;
};
type Sample = { readonly value: number; readonly isCounter: boolean };

/** How long a target may take to answer, in milliseconds. */
const TIMEOUT_MS = 5_000;
/** Longer than any alert waits. */
const MINUTES = 90;

export async function scrape(targets: readonly Target[], namespace: string): Promise<Scrape> {
  const at = Date.now();
  const scraped = targets.map(async (instance): Promise<[string, Sample][]> => {
    const labels = `instance="${instance}",job="keyplane",namespace="${namespace}"`;
    const url = `http://${instance}/metrics`;
    const text = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
      .then((answer) => answer.text())
      .catch(() => undefined);
    const up: [string, Sample] = [`up{${labels}}`, { value: text === undefined ? 0 : 1, isCounter: false }];
    return [up, ...(text === undefined ? [] : samplesIn(text, labels))];
  });
  return { at, samples: new Map((await Promise.all(scraped)).flat()) };
}

function samplesIn(text: string, labels: string): [string, Sample][] {
  const counting = new Set([...text.matchAll(/^# TYPE (\w+) (?:counter|histogram)$/gm)].map(([, name]) => name));
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? (-?[\d.e+-]+)$/gm)].map(([, name = "", own = "", value]) => {
    const isCounter = counting.has(name) || counting.has(name.replace(/_(bucket|sum|count)$/, ""));
    return [`${name}{${[own, labels].filter(Boolean).join()}}`, { value: Number(value), isCounter }];
  });
}

/** The names of the alerts that fire when for an hour and a half all goes on as it did between two scrapes. */
export async function firingAlerts(earlier: Scrape, later: Scrape): Promise<string[]> {
  const minutes = (later.at - earlier.at) / 60_000;
  const series = [...later.samples].map(([name, { value, isCounter }]) => {
    const grown = value - (earlier.samples.get(name)?.value ?? 0);
    const step = isCounter ? Math.max(0, grown) / minutes : 0;
    // Promtool's time begins at the epoch.
    const start = /_timestamp_seconds\{/.test(name) ? value - later.at / 1_000 : value;
    return { series: name, values: `${start}+${step}x${MINUTES}` };
  });
  const expr = 'count by (alertname) (ALERTS{alertstate="firing"})';
  const tests = [
    {
      interval: "1m",
      input_series: series,
      promql_expr_test: [{ expr, eval_time: `${MINUTES}m`, exp_samples: [] }],
    },
  ];
  const folder = await mkdtemp(join(tmpdir(), "keyplane-alerts-"));
  try {
    const file = join(folder, "test.yaml");
    // JSON is YAML.
    await writeFile(file, JSON.stringify({ rule_files: [ALERT_RULES], evaluation_interval: "1m", tests }));
    // Promtool compares, and prints what it finds beside what it did not expect.
    const printed = await run(await findPromtool(), ["test", "rules", file], { env: RARE_COLLECTION }).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    const [, got] = `${printed.stdout}${printed.stderr}`.split("got:");
    if (got === undefined && !printed.stdout.includes("SUCCESS"))
      throw new Error(`promtool: ${printed.stdout}${printed.stderr}`);
    return [...(got ?? "").matchAll(/alertname="(\w+)"/g)].map(([, name = ""]) => name).sort();
  } finally {
    await rm(folder, { recursive: true });
  }
}
