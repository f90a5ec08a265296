import { type Panel, SECTIONS } from "./dashboard-panels.ts";

/** Width of Grafana's grid, in its columns. */
const WIDTH = 24;
/** Sizes of a panel, by its type. */
const SIZES = { stat: { w: 4, h: 4 }, timeseries: { w: 8, h: 8 } } as const;

/** Data source that a person chooses at the dashboard's head. */
const DATASOURCE = { type: "prometheus", uid: `\${datasource}` };

/** Returns the Grafana dashboard, as JSON. */
export function renderDashboard(): string {
  const dashboard = {
    uid: "keyplane",
    title: "Keyplane",
    description: "Servers, controllers and keys of an installation of Keyplane.",
    tags: ["keyplane"],
    schemaVersion: 41,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    timezone: "browser",
    annotations: { list: [] },
    links: [],
    templating: { list: variables() },
    panels: drawPanels(),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function variables() {
  return [
    {
      name: "datasource",
      label: "Data source",
      type: "datasource",
      query: "prometheus",
      current: {},
      hide: 0,
      refresh: 1,
      regex: "",
      options: [],
    },
    labelValues("namespace", "Namespace", "keyplane_index_current", { current: {} }),
    labelValues("operation", "Operation", 'keyplane_requests_total{namespace="$namespace"}', {
      current: { text: "All", value: "$__all" },
      includeAll: true,
      multi: true,
      allValue: ".*",
    }),
  ];
}

/** Returns a variable with the values that a label has in a series. */
function labelValues(name: string, label: string, series: string, choice: object) {
  const query = `label_values(${series}, ${name})`;
  return {
    name,
    label,
    type: "query",
    datasource: DATASOURCE,
    definition: query,
    query: { query, refId: name },
    ...choice,
    hide: 0,
    refresh: 2,
    sort: 1,
    options: [],
  };
}

/** Returns each section's heading, and its panels side by side as far as they fit into a row. */
function drawPanels(): object[] {
  const drawn: object[] = [];
  let y = 0;
  for (const { title, panels } of SECTIONS) {
    const gridPos = { x: 0, y, w: WIDTH, h: 1 };
    drawn.push({ id: drawn.length + 1, type: "row", title, collapsed: false, gridPos, panels: [] });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of panels) {
      const { w, h } = SIZES[typeOf(panel)];
      if (x + w > WIDTH) {
        x = 0;
        y += height;
      }
      drawn.push(drawPanel(drawn.length + 1, panel, { x, y, w, h }));
      x += w;
      height = h;
    }
    y += height;
  }
  return drawn;
}

function typeOf({ number }: Panel): keyof typeof SIZES {
  return number === undefined ? "timeseries" : "stat";
}

function drawPanel(id: number, panel: Panel, gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>>): object {
  const { title, description, queries } = panel;
  return {
    id,
    type: typeOf(panel),
    title,
    description,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: defaultsOf(panel), overrides: [] },
    options: OPTIONS[typeOf(panel)],
    targets: Object.entries(queries).map(([legendFormat, expr], i) => {
      return { refId: String.fromCharCode("A".charCodeAt(0) + i), datasource: DATASOURCE, expr, legendFormat };
    }),
  };
}

const OPTIONS = {
  stat: { reduceOptions: { calcs: ["lastNotNull"] }, colorMode: "background", graphMode: "none", textMode: "value" },
  timeseries: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
};

function defaultsOf({ unit, number, isSigned }: Panel): object {
  if (number !== undefined) {
    const { colour, from1 } = number;
    const steps = [{ color: colour, value: null }, ...(from1 === undefined ? [] : [{ color: from1, value: 1 }])];
    return { unit, thresholds: { mode: "absolute", steps } };
  }
  const custom = { fillOpacity: 10, lineWidth: 1, showPoints: "never" };
  return { unit, custom, ...(isSigned ? {} : { min: 0 }) };
}
