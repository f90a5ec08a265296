import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { NearBudget } from "../../../store/budgets/near-budgets.ts";
import type { RefusedCredential, SilentUpstream } from "../../../store/gateways/upstream-outcomes.ts";
import type { LivingLeak } from "../../../store/keys/events/key-leaks.ts";
import type { ClusterNames } from "../../../store/objects/cluster-names.ts";
import type { ReplicaHealth } from "../../../store/replicas/replica-health.ts";
import type { LoggedDelivery } from "../../../store/webhooks/delivery-log.ts";
import { type Content, type Html, html } from "../../pages/html.ts";
import { type Column, table } from "../../pages/table.ts";
import { shownBudgets } from "../budgets-text.ts";
import { inParts } from "../in-parts.ts";
import { ago, exactMoment, moment } from "../times.ts";

/** Content of the page, with at most {@link ROWS} rows of each list. */
export type Now = {
  /** Servers, the longest silent first. */
  readonly servers: readonly ReplicaHealth[];
  /** Scopes in which a controller has led: a cluster, or `CLUSTER/a,b` for some of its namespaces. */
  readonly scopes: readonly string[];
  readonly clusters: ClusterNames;
  readonly leaks: readonly LivingLeak[];
  readonly refused: readonly RefusedCredential[];
  readonly silent: readonly SilentUpstream[];
  /** Deliveries that were given up, the latest first. */
  readonly failed: readonly LoggedDelivery[];
  readonly budgets: readonly NearBudget[];
  /** Milliseconds since the epoch. */
  readonly now: number;
};

/** Maximum number of rows of each list. */
export const ROWS = 20;

export function nowContent(page: Now): Html {
  const { now } = page;
  const lists = whatIsWrong(page);
  const inOrder = lists.filter(({ rows }) => rows.length === 0);
  return html`<div class="head"><h1>Health</h1></div>
<p class="muted">This installation as of ${moment(rfc3339Millis(now), now)}.</p>
<div class="stack">${lists.filter(({ rows }) => rows.length > 0).map(list)}${
    inOrder.length > 0 &&
    html`<section class="panel" aria-labelledby="in-order"><h2 id="in-order">No problem found</h2><ul>${inOrder.map(
      ({ none }) => html`<li>${none}</li>`,
    )}</ul></section>`
  }${list(servers(page))}${list(controllers(page))}</div>`;
}

/** Lists the problems that a person has to solve, the most urgent first. */
function whatIsWrong({ now, leaks, refused, silent, failed, budgets }: Now): readonly List[] {
  return [
    {
      ...{ id: "leaks", title: "Leaked keys that work", none: "No key that was reported as leaked works." },
      columns: [["Key", "named"], ["Team", "named"], ["Reported", "whole"], "What to do"],
      rows: leaks.map(({ namespace, name, keyId, team, reportedAt }) => [
        html`<a href="/dashboard/keys/${keyId}">${namespace === "" ? name : `${namespace}/${name}`}</a>`,
        html`<a href="/dashboard/team/${team.id}">${team.name}</a>`,
        exactMoment(reportedAt, now),
        html`<a href="/dashboard/keys/${keyId}/rotate">Rotate</a> or <a href="/dashboard/keys/${keyId}/revoke">revoke</a> it`,
      ]),
    },
    {
      ...{ id: "credentials", title: "Upstreams that refuse their credential, or ask for one" },
      none: "No upstream refuses its credential.",
      columns: [["Gateway", "named"], "Upstream", "Dialect"],
      rows: refused.map((of) => [gatewayLink(of), html`<bdi>${of.upstream}</bdi>`, of.dialect]),
    },
    {
      ...{ id: "upstreams", title: "Upstreams that do not answer" },
      none: "Each upstream that was called in the last hour answered.",
      columns: [["Gateway", "named"], "Upstream", "Why", ["Last call", "whole"]],
      rows: silent.map((of) => [
        gatewayLink(of),
        html`<bdi>${of.upstream}</bdi>`,
        of.failure,
        html`${ago(rfc3339Millis(of.failedAt), now)}<small>${
          of.answeredAt === null ? "never answered" : html`answered ${ago(rfc3339Millis(of.answeredAt), now)}`
        }</small>`,
      ]),
    },
    {
      ...{ id: "webhooks", title: "Webhook deliveries that failed", none: "No delivery that is kept has failed." },
      columns: [["Time", "whole"], ["Team", "named"], "To", "Why"],
      rows: failed.map(({ at, team, url, why, status }) => [
        exactMoment(at, now),
        html`<bdi>${team}</bdi>`,
        html`<code>${inParts(url)}</code>`,
        why ?? `answered ${status}`,
      ]),
      all: html`<a href="/dashboard/webhooks?state=failed">All that failed</a>`,
    },
    {
      ...{ id: "budgets", title: "Budgets near their end", none: "No budget is used to 80 %." },
      columns: [["Whose", "named"], "Budget"],
      rows: budgets.map((use) => [whose(use), shownBudgets([use], now)]),
    },
  ];
}

function whose({ key, team, budget }: NearBudget): Content {
  if (team === null) return html`<bdi>${budget.policy ?? ""}</bdi>`;
  if (key === null) return html`<a href="/dashboard/team/${team.id}">${team.name}</a>`;
  return html`<a href="/dashboard/keys/${key.id}">${key.name}</a><small>${team.name}</small>`;
}

type List = {
  readonly id: string;
  readonly title: string;
  /** Text if the list is empty. */
  readonly none: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Content[])[];
  /** Link to all rows. */
  readonly all?: Html;
};

function list({ id, title, none, columns, rows, all }: List): Html {
  const isMore = rows.length > ROWS;
  return html`<section class="panel flush" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${
    rows.length === 0
      ? html`<div class="empty"><p class="muted">${none}</p></div>`
      : table(title, columns, rows.slice(0, ROWS))
  }${isMore && html`<div class="foot"><p class="muted small">There are more. ${all ?? ""}</p></div>`}</section>`;
}

const SERVERS: readonly Column[] = [
  ["Server", "named"],
  ["State", "whole"],
  ["Last sign of life", "number"],
  ["Changes behind", "number"],
  ["Clock ahead", "number"],
];

function servers({ servers }: Now): List {
  return {
    ...{ id: "servers", title: "Servers", none: "No server is registered.", columns: SERVERS },
    rows: servers.map(({ id, mayServe, lacksKey, silentMs, behind, clockAheadMs }) => [
      html`<code>${id}</code>`,
      html`${
        mayServe
          ? html`<span class="badge good">Serves</span>`
          : html`<span class="badge bad">Silent</span><small>changes wait for it</small>`
      }${lacksKey !== null && html`<span class="badge bad">Lacks an encryption key</span>`}`,
      seconds(silentMs),
      behind.toLocaleString("en-US"),
      clockAheadMs === null ? "not known" : seconds(clockAheadMs),
    ]),
  };
}

function controllers({ scopes, clusters }: Now): List {
  return {
    ...{ id: "controllers", title: "Clusters with a controller", none: "No controller has led yet." },
    columns: [["Cluster", "named"], "Namespaces"],
    rows: scopes.map((scope) => {
      const [cluster = "", namespaces] = scope.split("/", 2);
      const name = clusters.get(cluster) ?? null;
      return [
        html`${name !== null && html`<bdi>${name}</bdi> `}<code>${cluster}</code>`,
        namespaces === undefined ? "all" : namespaces.split(",").join(", "),
      ];
    }),
  };
}

function gatewayLink({ gatewayId, namespace, name }: Pick<SilentUpstream, "gatewayId" | "namespace" | "name">): Html {
  return html`<a href="/dashboard/gateways/${gatewayId}">${namespace === "" ? name : `${namespace}/${name}`}</a>`;
}

function seconds(ms: number): string {
  const tenths = Math.round(ms / 100);
  return `${(tenths === 0 ? 0 : tenths / 10).toLocaleString("en-US")} s`;
}
