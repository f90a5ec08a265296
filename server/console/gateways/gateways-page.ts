import type { BoundKeys, UpstreamState } from "../../../store/gateways/upstream-outcomes.ts";
import type { ClusterNames } from "../../../store/objects/cluster-names.ts";
import type { ConditionsById } from "../../../store/objects/object-conditions.ts";
import type { StoredGateway } from "../../../store/objects/objects.ts";
import { type Html, html } from "../../pages/html.ts";
import { type Column, table } from "../../pages/table.ts";
import { listedConditions } from "../conditions/conditions-panel.ts";
import { declarationLocation, locationBadge } from "../declared-in.ts";
import { refName } from "../keys/key-words.ts";
import { countOnPage, foot, searchForm } from "../page-links.ts";
import { urlWithQuery } from "../query-text.ts";
import { teamField } from "../team-field.ts";
import { healthBadge, healthOf } from "./upstream-words.ts";

/** Query of the list of gateways. */
export type GatewaysQuery = { readonly team: string; readonly afterId: string | undefined };

/** Facts about gateways that are not part of their declarations. */
export type GatewayFigures = {
  stateOf(gatewayId: string, upstream: string): UpstreamState | undefined;
  readonly boundKeys: ReadonlyMap<string, BoundKeys>;
  readonly conditions: ConditionsById;
};

export type GatewayList = GatewayFigures & {
  readonly clusters: ClusterNames;
  readonly query: GatewaysQuery;
  readonly gateways: readonly StoredGateway[];
  /** Id of the last gateway on this page; null on the last page. */
  readonly nextId: string | null;
  /** Names of teams that the filter offers. */
  readonly teams: readonly string[];
};

const PATH = "/dashboard/gateways";
const COLUMNS: readonly Column[] = [
  ["Gateway", "named"],
  "Upstreams",
  ["Routes", "number"],
  ["Keys bound to it", "number"],
  "Team",
  "Declared in",
];
/** Maximum number of upstreams that the list shows of a gateway. The gateway's own page shows all. */
const SHOWN_UPSTREAMS = 8;

export function gatewaysContent(list: GatewayList): Html {
  const { query, gateways, nextId, teams } = list;
  const url = (afterId: string | undefined) => urlWithQuery(PATH, { team: query.team, after: afterId ?? "" });
  return html`<div class="head"><h1>Gateways</h1></div>
${
  (teams.length > 1 || query.team !== "") &&
  html`<form class="panel" role="search" aria-label="Gateways" ${searchForm(PATH)}><div class="filters short">${teamField(query.team, teams)}<button>Search</button></div></form>`
}
<div id="results" class="panel flush">${gateways.length === 0 ? nothing(query) : gatewayTable(list)}${
    gateways.length > 0 &&
    foot({
      said: countOnPage(gateways.length, "gateway", "gateways"),
      first: query.afterId && url(undefined),
      next: nextId === null ? undefined : url(nextId),
      isPartial: false,
    })
  }</div>`;
}

function gatewayTable({ gateways, clusters, boundKeys, conditions, stateOf }: GatewayList): Html {
  const rows = gateways.map((gateway) => {
    const { id, publicId, upstreams, routes, routesOnly, team } = gateway;
    const more = upstreams.length - SHOWN_UPSTREAMS;
    return [
      html`<a href="${PATH}/${id}">${refName(gateway)}</a><small><code>${publicId}</code></small>${listedConditions(conditions.get(id))}`,
      upstreams.length === 0
        ? html`<span class="muted">None: it forwards nothing</span>`
        : html`${upstreams
            .slice(0, SHOWN_UPSTREAMS)
            .map(
              (upstream) =>
                html`<span class="line">${upstream.name} ${healthBadge(healthOf(stateOf(id, upstream.name), upstream))}</span>`,
            )}${more > 0 && html`<small>and ${more} more</small>`}`,
      html`${routes.length}${routesOnly && html`<small>and no other model</small>`}`,
      countText(boundKeys.get(id)),
      team,
      locationBadge(declarationLocation(gateway, clusters)),
    ];
  });
  return table("Gateways", COLUMNS, rows);
}

export function countText(bound: BoundKeys | undefined): string {
  return bound === undefined ? "0" : `${bound.keys}${bound.isMore ? " and more" : ""}`;
}

function nothing({ team, afterId }: GatewaysQuery): Html {
  if (team !== "" || afterId !== undefined) {
    return html`<div class="empty"><h2>No gateway matches</h2><p class="muted">Write a team's whole name, or its id.</p><a class="button" href="${PATH}">Show all gateways</a></div>`;
  }
  return html`<div class="empty"><h2>No gateways yet</h2><p class="muted">A gateway takes a team's calls to models with a key of ours, and makes them with the provider's. Declare a ModelGateway, or have an admin of the team make one by the API.</p><a class="button" href="/dashboard/team">To the team</a></div>`;
}
