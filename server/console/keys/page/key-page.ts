import { isScope, SCOPE_TEXTS } from "../../../../domain/access/scopes.ts";
import { subjectText } from "../../../../domain/access/subject.ts";
import type { ReportedCondition } from "../../../../domain/conditions.ts";
import { parseDuration } from "../../../../domain/duration.ts";
import { statedFacts } from "../../../../domain/key/declaration/facts.ts";
import { rotationDueAt } from "../../../../domain/key/issuance/issuance-policy.ts";
import type { MadeKeyVerdict } from "../../../../domain/key/policies/made-key.ts";
import type { LastUse } from "../../../../domain/key/stored/known-usage.ts";
import { SCHEMAS } from "../../../../domain/kinds/generated/schemas.ts";
import { withoutDefaults } from "../../../../domain/manifest/document/without-defaults.ts";
import { writeYaml } from "../../../../domain/manifest/document/write-yaml.ts";
import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import type { KeyRefusals } from "../../../../store/audit/key-refusals.ts";
import type { BudgetUse } from "../../../../store/budgets/read-budgets.ts";
import type { KeyEvent } from "../../../../store/keys/events/key-events.ts";
import type { KeyDeclaration } from "../../../../store/keys/rows/key-declarations.ts";
import type { ClusterNames } from "../../../../store/objects/cluster-names.ts";
import { inWords } from "../../../management/audit/event-text.ts";
import type { AdviceJson } from "../../../management/keys/access/key-advice.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { platformKey } from "../../../management/keys/shown/key-manifest.ts";
import { type Html, html } from "../../../pages/html.ts";
import { type Column, table } from "../../../pages/table.ts";
import type { Viewer } from "../../../pages/viewer.ts";
import { shownBudgets } from "../../budgets-text.ts";
import { conditionsBadge, conditionsPanel } from "../../conditions/conditions-panel.ts";
import { chips, type Facts, factList } from "../../facts.ts";
import { inParts } from "../../in-parts.ts";
import { shownLimits } from "../../limits-text.ts";
import { urlWithQuery } from "../../query-text.ts";
import type { RefusingBudgets } from "../../refusals/refused-until.ts";
import { ago, moment } from "../../times.ts";
import type { SeenUsage } from "../../usage/see-usage.ts";
import { usagePanel } from "../../usage/usage-panel.ts";
import {
  bindingsOf,
  declarationOf,
  endOfVersion,
  isMadeByHand,
  LEAKED_BADGE,
  mayCallModels,
  SAID_OF_KEYS,
  stateBadge,
  versionBadge,
} from "../key-words.ts";
import { advicePanel } from "./advice-panel.ts";
import { keyActions } from "./key-actions-menu.ts";
import { eventList } from "./key-event-list.ts";
import { oldVersionsInUse, refusedLately } from "./key-in-use-panel.ts";
import { leakNotice } from "./leak-notice.ts";
import { outdatedNotice } from "./outdated-notice.ts";
import type { Requests } from "./request-bars.ts";
import { scopedRequests } from "./requests-chart.ts";
import { timeline } from "./timeline.ts";

export type KeyPage = {
  readonly key: KeyJson;
  readonly tab: KeyTab;
  readonly clusters: ClusterNames;
  /**
   * Path of the page of the gateway that the key is bound to, or of its team's gateways; undefined for a key that may
   * call no models.
   */
  readonly gatewayPath: string | undefined;
  /** Declaration of the key; undefined until its controller has recorded it. */
  readonly declaration: KeyDeclaration | undefined;
  /** Conditions; undefined for a key that no controller looks at. */
  readonly conditions: readonly ReportedCondition[] | undefined;
  readonly events: readonly KeyEvent[];
  /** Id of the last event shown if there are earlier ones; null otherwise. */
  readonly moreEvents: number | null;
  readonly requests: Requests;
  readonly usage: SeenUsage;
  /** Budgets of the key, without those of its team. */
  readonly budgets: readonly BudgetUse[];
  /**
   * Verdict of the platform's policies. undefined if no policy applies, and for a declared key, whose declaration says
   * it.
   */
  readonly policies: MadeKeyVerdict | undefined;
  /** Advice; undefined for a revoked key. */
  readonly advice: AdviceJson | undefined;
  readonly lastUses: readonly LastUse[];
  /** Refusals of the last day. */
  readonly refusals: readonly KeyRefusals[];
  readonly refusingBudgets: RefusingBudgets;
  readonly mayChange: boolean;
  readonly mayRevoke: boolean;
  readonly viewer: Viewer;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

/** Tabs of a key's page, each with its own URL. */
export const KEY_TABS = { overview: "Overview", usage: "Usage", access: "Access", yaml: "YAML" } as const;
export type KeyTab = keyof typeof KEY_TABS;

/**
 * Renders a key's page: the key, what is wrong with it, and the tab that was asked for, in the order of its readers'
 * questions.
 */
export function keyContent(page: KeyPage): Html {
  const { key, tab, lastUses, now } = page;
  return html`<div class="head"><div><p class="crumb"><a href="/dashboard/keys">API keys</a></p><h1>${key.name}</h1><p>${stateBadge(key.state)} ${conditionsBadge(page.conditions, SAID_OF_KEYS)}${
    key.displayName !== key.name && html` <span class="muted">${key.displayName}</span>`
  }</p></div>${keyActions(page)}</div>
${leakNotice(key, page.mayRevoke, now)}${outdatedNotice(key, lastUses, now)}${receipt(key, now)}${key.state === "suspended" && suspension(key)}${page.policies && policyNotice(page.policies, now)}
<nav aria-label="Key"><ul class="tabs">${Object.entries(KEY_TABS).map(
    ([name, title]) =>
      html`<li><a href="${urlWithQuery(`/dashboard/keys/${key.id}`, { tab: name === "overview" ? "" : name })}"${name === tab && html` aria-current="page"`}>${title}</a></li>`,
  )}</ul></nav>
${TABS[tab](page)}`;
}

const TABS: Readonly<Record<KeyTab, (page: KeyPage) => Html>> = {
  overview,
  usage: ({ key, usage, requests }) =>
    usagePanel(
      usage,
      { path: `/dashboard/keys/${key.id}`, query: { tab: "usage" } },
      scopedRequests(requests, usage.range),
    ),
  access: (page) =>
    html`<section class="panel" aria-labelledby="access"><h2 id="access">Access</h2>${access(page)}</section>
${page.advice && advicePanel(page.advice, page.now)}`,
  yaml: (page) => (page.key.declaredIn === null ? ownManifest(page) : managed(page)),
};

function overview(page: KeyPage): Html {
  const { key, events, moreEvents, lastUses, refusals, now } = page;
  return html`${conditionsPanel(page.conditions, now)}
${strip(page)}
<div class="columns"><div class="stack">
${page.budgets.length > 0 && html`<section class="panel" aria-labelledby="budgets"><h2 id="budgets">Budgets</h2>${budgetsOf(page)}</section>`}
<section class="panel" aria-labelledby="refused"><h2 id="refused">Recent errors</h2>${refusedLately(refusals, key, page.refusingBudgets, now)}</section>
<section class="panel" aria-labelledby="versions"><h2 id="versions">Versions</h2>${versions(key, now)}${oldVersionsInUse(key, lastUses, now)}</section>
${key.managedBy !== null && managedElsewhere(key.managedBy)}
</div><div class="stack">
<section class="panel" aria-labelledby="facts"><h2 id="facts">Details</h2>${facts(page)}</section>
<section class="panel" aria-labelledby="history"><h2 id="history">History</h2>${eventList(events, now)}${
    moreEvents !== null &&
    html`<p><a class="button" href="/dashboard/keys/${key.id}?before=${moreEvents}">Earlier</a></p>`
  }</section></div></div>`;
}

/** Explains why a key is suspended, and what ends that. */
function suspension({ spec, declaredIn, namespace, team }: KeyJson): Html {
  const until =
    spec.state !== "Suspended"
      ? namespace === ""
        ? `Team ${team} was deleted: it works again once there is a team of this name.`
        : `Team ${team} does not hold namespace ${namespace} any more: it works again once the team does.`
      : declaredIn === null
        ? "It works again once it is resumed."
        : "It works again once its declaration says state: Active.";
  return html`<div class="notice warn"><p><strong>Suspended.</strong> Every request with it is refused. ${until}</p></div>`;
}

/** Explains why a policy of the platform ends the key, and which limits of policies apply in place of its own. */
function policyNotice({ ends, endsAt, bounded }: MadeKeyVerdict, now: number): Html {
  const when = endsAt === null ? "" : html` ${moment(rfc3339Millis(endsAt), now)}`;
  return html`${
    ends.length > 0 &&
    html`<div class="notice warn"><p><strong>A policy of the platform ends this key${when}</strong> unless it is edited before:</p><ul>${ends.map(
      (sentence) => html`<li>${sentence}</li>`,
    )}</ul></div>`
  }${
    bounded.length > 0 &&
    html`<div class="notice"><p>A policy of the platform bounds this key:</p><ul>${bounded.map(
      (sentence) => html`<li>${sentence}</li>`,
    )}</ul></div>`
  }`;
}

/** Shows the progress of a revocation. The browser asks again each second until every replica has confirmed it. */
function receipt({ id, revocation }: KeyJson, now: number): Html | string {
  if (revocation === null) return "";
  const { reason, at, sequence, confirmed } = revocation;
  const said = confirmed
    ? html`<p><strong>Revoked everywhere.</strong> Every replica refuses this key, or refuses everything.</p>`
    : html`<p><strong>Revoked.</strong> Waiting for every replica to say that it refuses this key: it does within seconds.</p>`;
  const polling = confirmed
    ? ""
    : html` hx-get="/dashboard/keys/${id}" hx-trigger="every 1s" hx-select="#receipt" hx-swap="outerHTML"`;
  return html`<div class="notice ${confirmed ? "good" : "warn"}" id="receipt" role="status"${polling}>${said}<p class="muted small">${inWords(reason)}, ${moment(at, now)} · receipt ${sequence ?? "unknown"}</p></div>`;
}

/** Shows the key's main facts in a row. */
function strip({ key, gatewayPath, declaration, now }: KeyPage): Html {
  const { expiresAt, lastUsedAt } = key;
  const rows: Facts = [
    ["Prefix", html`<code>${key.prefix ?? "none yet"}</code>`],
    ["Scopes", chips(key.scopes)],
    [
      "Bound to",
      bindingsOf(key).map(
        (binding, i) =>
          html`<span class="line">${i === 0 && gatewayPath ? html`<a href="${gatewayPath}">${binding}</a>` : binding}</span>`,
      ),
    ],
    ["Last use", lastUsedAt === null ? "Never" : ago(lastUsedAt, now)],
    ...nextRotation(key, declaration, now),
    ["Expires", expiresAt === null ? "Never" : moment(expiresAt, now)],
  ];
  return html`<dl class="panel strip">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function access(page: KeyPage): Html {
  const { key, budgets } = page;
  const { rateLimit, allowedModels, subjectAccess, allowedCIDRs } = key.spec;
  const rows: Facts = [
    ...key.scopes.map(
      (scope) => [html`<code>${scope}</code>`, isScope(scope) ? SCOPE_TEXTS[scope].means : ""] as const,
    ),
    [
      "Models",
      allowedModels === undefined ? "Any" : allowedModels.map((model, i) => html`${i > 0 && ", "}${inParts(model)}`),
    ],
    ...(subjectAccess === undefined ? [] : [["Memory of", subjectText(subjectAccess)] as const]),
    ["Networks", allowedCIDRs === undefined ? "Any, unless its team says otherwise" : chips(allowedCIDRs)],
    ["Limits", rateLimit === undefined ? "None of its own" : shownLimits(rateLimit)],
    ...(mayCallModels(key) || budgets.length > 0 ? [["Budgets", budgetsOf(page)] as const] : []),
  ];
  return factList(rows);
}

/** Shows the key's own budgets, and links to those of its team, which apply too. */
function budgetsOf({ key, budgets, now }: KeyPage): Html {
  return html`${budgets.length === 0 ? "None of its own" : shownBudgets(budgets, now)}<small>What its team has is on <a href="/dashboard/team/${key.teamId}">the team's page</a>, and holds too.</small>`;
}

/** Lists the last networks that the key was called from, each with the day in UTC. */
function callers({ lastNetworks }: KeyJson): readonly Html[] {
  return lastNetworks.map(
    ({ network, lastSeenOn }) =>
      html`<span class="line"><code>${network}</code> <span class="muted small">last on ${lastSeenOn}</span></span>`,
  );
}

function facts({ key, clusters, now }: KeyPage): Html {
  const { rotationRequestedAt } = key;
  return factList([
    ["Team", html`<a href="/dashboard/team/${key.teamId}">${key.team}</a>`],
    ["Declared in", declarationOf(key, clusters)],
    ...statedFacts(key.spec),
    ["Created", moment(key.createdAt, now)],
    ...(key.lastNetworks.length === 0 ? [] : [["Called from", callers(key)] as const]),
    ...(rotationRequestedAt === null ? [] : [["Rotation asked for", moment(rotationRequestedAt, now)] as const]),
    ["Id", html`<code>${key.id}</code>`],
  ]);
}

const COLUMNS = ["Version", "State", "Since", "Ends", "Last use"].map((title): Column => [title, "whole"]);

function versions(key: KeyJson, now: number): Html {
  if (key.versions.length === 0)
    return html`<p class="muted">None yet: its controller is about to make the first one.</p>`;
  const rows = key.versions.map((version) => {
    const { number, prefix, activatedAt, mintedAt, lastUsedAt } = version;
    const end = endOfVersion(version, key);
    return [
      html`<strong>${number}</strong><small><code>${prefix}</code></small>`,
      html`${versionBadge(version)}${version.leakedAt !== null && LEAKED_BADGE}`,
      ago(activatedAt ?? mintedAt, now),
      end === null ? "No end" : ago(end, now),
      lastUsedAt === null ? "Never" : ago(lastUsedAt, now),
    ];
  });
  return html`${timeline(key, now)}${table("Versions", COLUMNS, rows)}`;
}

/** Names the program that manages a key which no PlatformKey declares. */
function managedElsewhere(managedBy: string): Html {
  return html`<section class="panel" aria-labelledby="managed"><h2 id="managed">Managed</h2>
<p>What is named below manages this key, and is where it is changed. A change made here to a key of a Pulumi program is reverted by its next <code>pulumi up</code>. Revoking it here always works, and always wins.</p>
<pre id="managedBy" tabindex="0" aria-label="What manages the key">${managedBy}</pre>
<p class="actions"><button type="button" data-copy="managedBy" hidden>Copy</button></p></section>`;
}

/** Shows when the declared interval asks for the next version. Empty if there is no interval or no active version. */
function nextRotation({ id, state, versions }: KeyJson, declaration: KeyDeclaration | undefined, now: number): Facts {
  const interval = declaration?.spec?.rotation?.interval;
  const active = versions.find((version) => version.state === "active");
  if (interval === undefined || active === undefined || state !== "active") return [];
  const { number, mintedAt } = active;
  const at = rotationDueAt({ number, mintedAt: Date.parse(mintedAt) }, parseDuration(interval), id);
  return [["Next rotation", moment(rfc3339Millis(at), now)]];
}

/** Shows the manifest of a declared key, and where it is changed. */
function managed({ key, clusters, declaration }: KeyPage): Html {
  const { namespace, name } = key;
  const manifest = shownManifest({ namespace, name }, declaration?.spec ?? key.spec);
  return html`<section class="panel" aria-labelledby="managed"><h2 id="managed">Managed</h2>
<p>This key is declared as PlatformKey <strong>${declarationOf(key, clusters)}</strong>, and is changed there: a change made here would be reverted by its declaration. To suspend it, set <code>spec.state: Suspended</code>. Revoking it here always works, and always wins.</p>
${notShown(declaration)}
<pre id="manifest" tabindex="0" aria-label="Its manifest">${manifest}</pre>
<p class="muted small">Fields that have their default are left out.</p>
<p class="actions"><button type="button" data-copy="manifest" hidden>Copy YAML</button></p></section>`;
}

/** Shows the PlatformKey that a key made by hand would be. */
function ownManifest({ key, mayChange }: KeyPage): Html {
  const { id, name, spec, state } = key;
  return html`<section class="panel" aria-labelledby="managed"><h2 id="managed">As YAML</h2>
<p>No manifest declares this key. As a PlatformKey it would be this, in a namespace of its team.${
    state !== "revoked" &&
    mayChange &&
    isMadeByHand(key) &&
    html` <a href="/dashboard/keys/${id}/manifest">Export as manifest</a> has what takes the key over.`
  }</p>
<pre id="manifest" tabindex="0" aria-label="The key as YAML">${shownManifest({ name }, spec)}</pre>
<p class="actions"><button type="button" data-copy="manifest" hidden>Copy YAML</button></p></section>`;
}

/** Writes a PlatformKey as YAML, without the fields that have their default. */
function shownManifest(metadata: { readonly namespace?: string; readonly name: string }, spec: unknown): string {
  return writeYaml(platformKey(metadata, withoutDefaults(spec, SCHEMAS.PlatformKey.properties?.spec)));
}

/** Says which fields the manifest of the page lacks, if any. */
function notShown(declaration: KeyDeclaration | undefined): Html | string {
  const spec = declaration?.spec;
  if (spec === undefined || spec === null) {
    const why =
      spec === null
        ? "its declaration is too long to be kept here"
        : "its controller has not recorded its declaration yet";
    return html`<p class="notice warn">Not all of it is shown: ${why}. Rotation, Secret, source and restarts are missing below, and a preset is written as its scopes. Change the manifest that you have.</p>`;
  }
  if (spec.source?.type !== "ImportHash") return "";
  return html`<p class="muted small"><code>spec.source.hash</code> is not shown: keep what your manifest has.</p>`;
}
