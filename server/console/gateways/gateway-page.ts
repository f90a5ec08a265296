import { timeoutsText } from "../../../domain/access/route-timeouts.ts";
import {
  choicesOf,
  type RouteChoices,
  type RouteTarget,
  STICKY_TEXT,
  weightText,
} from "../../../domain/access/route-weights.ts";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { counted } from "../../../domain/counted.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { ClusterNames } from "../../../store/objects/cluster-names.ts";
import type { StoredGateway } from "../../../store/objects/objects.ts";
import { type Html, html } from "../../pages/html.ts";
import { type Column, table } from "../../pages/table.ts";
import { conditionsBadge, conditionsPanel } from "../conditions/conditions-panel.ts";
import { declarationLocation } from "../declared-in.ts";
import { type Facts, factList } from "../facts.ts";
import { inParts } from "../in-parts.ts";
import { refName } from "../keys/key-words.ts";
import { shownLimits } from "../limits-text.ts";
import { urlWithQuery } from "../query-text.ts";
import { moment } from "../times.ts";
import type { SeenUsage } from "../usage/see-usage.ts";
import { usagePanel } from "../usage/usage-panel.ts";
import { countText, type GatewayFigures } from "./gateways-page.ts";
import { credentialWords, healthBadge, healthOf, lastHeard } from "./upstream-words.ts";

/** Content of a gateway's page. */
export type GatewayPage = GatewayFigures & {
  readonly clusters: ClusterNames;
  readonly gateway: StoredGateway;
  /** URL at which clients reach this server, without a slash at its end. */
  readonly publicUrl: string;
  readonly usage: SeenUsage;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

const UPSTREAMS: readonly Column[] = [["Upstream", "named"], "State", "Last heard of", "Credential", "Base URL"];

export function gatewayContent(page: GatewayPage): Html {
  const { gateway, now } = page;
  const conditions = page.conditions.get(gateway.id);
  return html`<div class="head"><div><p class="crumb"><a href="/dashboard/gateways">Gateways</a></p><h1>${refName(gateway)}</h1>${conditionsBadge(conditions)}</div><p class="actions"><a class="button" href="${urlWithQuery("/dashboard/audit", { about: gateway.id })}">Audit log</a></p></div>${refusedNotice(page)}
${conditionsPanel(conditions, now)}
<section class="panel" aria-labelledby="urls"><h2 id="urls">Base URLs</h2>${baseUrls(page)}</section>
<section class="panel" aria-labelledby="upstreams"><h2 id="upstreams">Upstreams</h2>${upstreams(page)}<p class="hint">From the calls of all replicas, within seconds: this page sends nothing to an upstream.</p></section>
<div class="columns"><div class="stack">
<section class="panel" aria-labelledby="routes"><h2 id="routes">Routes</h2>${routes(gateway)}</section>
</div><div class="stack">
<section class="panel" aria-labelledby="facts"><h2 id="facts">Details</h2>${facts(page)}</section></div></div>
${usagePanel(page.usage, { path: `/dashboard/gateways/${gateway.id}`, team: gateway.team })}`;
}

/** Warns of credentials that the providers refuse, and says where each is replaced. */
function refusedNotice({ gateway, stateOf }: GatewayPage): Html | false {
  const refusing = gateway.upstreams.filter(({ name }) => stateOf(gateway.id, name)?.refusesCredential);
  if (refusing.length === 0) return false;
  const named = (takes: boolean) => refusing.filter((one) => one.takesCredential === takes).map(({ name }) => name);
  const [refused, asking] = [named(true).join(", "), named(false).join(", ")];
  const step = refused === "" ? "and name it in" : "the one named in";
  const remedy =
    gateway.cluster === API_CLUSTER
      ? html`Send the provider's present credential with <code>PUT /api/v1/gateways/${gateway.id}</code>`
      : html`Write the provider's present credential into a Secret, ${step} <code>spec.upstreams[].credentialRef</code>`;
  return html`<div class="notice bad"><p><strong>Credential refused.</strong> ${refused !== "" && html`The provider does not take the credential of ${refused}. `}${asking !== "" && html`Declared without a credential, and asking for one: ${asking}. `}${remedy}: the next calls are made with it.</p></div>`;
}

function upstreams({ gateway: { id, upstreams }, stateOf, now }: GatewayPage): Html {
  if (upstreams.length === 0) {
    return html`<p class="muted">None: it forwards nothing. Declare one under <code>spec.upstreams</code>.</p>`;
  }
  const rows = upstreams.map((upstream) => {
    const { name, dialect, baseUrl } = upstream;
    const state = stateOf(id, name);
    return [
      html`<strong>${name}</strong><small>${dialect}</small>`,
      healthBadge(healthOf(state, upstream)),
      lastHeard(state, now),
      credentialWords(state, upstream, now),
      html`<code>${inParts(baseUrl)}</code>`,
    ];
  });
  return table("Upstreams", UPSTREAMS, rows);
}

function routes({ routes, routesOnly }: StoredGateway): Html {
  const others = routesOnly
    ? "Only the models below may be asked for."
    : "Any other model is asked of the first upstream that speaks the caller's dialect.";
  if (routes.length === 0) {
    return html`<p class="muted">None. ${routesOnly ? "So no model may be asked for: declare one under spec.routes." : others}</p>`;
  }
  const rows = routes.map((route) => {
    const { model, routeId, sticky, retry, timeouts, rateLimit } = route;
    const choices = choicesOf(route);
    return [
      html`<strong>${inParts(model)}</strong><small><code>${inParts(routeId)}</code></small>`,
      [
        ...choices.first.map((target) => targetLine(target, choices)),
        sticky !== undefined && html`<small>${STICKY_TEXT}</small>`,
        timeouts !== undefined && html`<small>${timeoutsText(timeouts)}</small>`,
      ],
      choices.after.length === 0 && choices.first.length === 1 && retry === undefined
        ? html`<span class="muted">None</span>`
        : [
            retry !== undefined && html`<span class="line">${counted(retry.attempts, "more attempt")}</span>`,
            choices.first.length > 1 && html`<span class="line">the others</span>`,
            ...choices.after.map((target) => targetLine(target, choices)),
          ],
      rateLimit === undefined ? html`<span class="muted">None</span>` : shownLimits(rateLimit),
    ];
  });
  return html`<p class="muted">${others}</p>${table("Routes", ["Model", "Leads to", "If that fails", "Limits"], rows)}`;
}

function targetLine(target: RouteTarget, choices: RouteChoices): Html {
  const weight = weightText(target, choices);
  return html`<span class="line">${inParts(target.upstreamModel)} at ${target.upstream}${weight !== undefined && html`<small>${weight}</small>`}</span>`;
}

function baseUrls({ gateway: { publicId }, publicUrl }: GatewayPage): Html {
  const base = `${publicUrl}/g/${publicId}`;
  const urls = [
    { title: "OpenAI SDK", url: `${base}/v1`, id: "url-openai" },
    { title: "Gemini and Anthropic SDKs", url: base, id: "url-base" },
  ];
  return html`<dl class="facts">${urls.map(
    ({ title, url, id }) =>
      html`<dt>${title}</dt><dd><code id="${id}">${inParts(url)}</code> <button type="button" class="small" data-copy="${id}" hidden aria-label="Copy the base URL of ${title}">Copy</button></dd>`,
  )}</dl>`;
}

function facts({ gateway, clusters, boundKeys, now }: GatewayPage): Html {
  const { id, publicId, operations, team, teamId, createdAt } = gateway;
  const rows: Facts = [
    ["Serves", operations.join(", ")],
    [
      "Keys",
      html`<a href="${urlWithQuery("/dashboard/keys", { bound: id })}">${countText(boundKeys.get(id))}</a> bound to it alone; those of the team that are bound to none may use it too. <a href="${urlWithQuery("/dashboard/keys", { team })}">Keys of the team</a>`,
    ],
    ["Team", html`<a href="/dashboard/team/${teamId}">${team}</a>`],
    ["Public id", html`<code>${publicId}</code>`],
    ["Declared in", declarationLocation(gateway, clusters)],
    ["Created", moment(rfc3339Millis(createdAt.getTime()), now)],
    ["Id", html`<code>${id}</code>`],
  ];
  return factList(rows);
}
