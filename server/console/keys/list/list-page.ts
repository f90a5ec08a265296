import { SCOPES } from "../../../../domain/access/scopes.ts";
import type { IssuedNames } from "../../../../domain/access/team-member.ts";
import { FACT_NAMES, factOf, statedFacts } from "../../../../domain/key/declaration/facts.ts";
import { writeYaml } from "../../../../domain/manifest/document/write-yaml.ts";
import type { BoundedCount } from "../../../../store/database/bounded-count.ts";
import { KEY_TRAITS, type KeyTrait } from "../../../../store/keys/search/key-criteria.ts";
import { LISTED_STATES } from "../../../../store/keys/search/key-lists.ts";
import { KEY_ORDERS, type KeyOrder, type KeyPosition } from "../../../../store/keys/search/key-orders.ts";
import type { ClusterNames } from "../../../../store/objects/cluster-names.ts";
import type { ConditionsById } from "../../../../store/objects/object-conditions.ts";
import type { KeyRowJson } from "../../../management/keys/shown/key-json.ts";
import { flag, type Html, html } from "../../../pages/html.ts";
import { type Column, table } from "../../../pages/table.ts";
import { listedConditions } from "../../conditions/conditions-panel.ts";
import { locationBadge } from "../../declared-in.ts";
import { countOnPage, foot, inAll, searchForm } from "../../page-links.ts";
import { teamField } from "../../team-field.ts";
import { ago } from "../../times.ts";
import {
  bindingsOf,
  declarationOf,
  isMadeByHand,
  LEAKED_BADGE,
  leakedVersions,
  SAID_OF_KEYS,
  scopesText,
  stateBadge,
} from "../key-words.ts";
import { exportFoot } from "./export-foot.ts";
import { type KeyListFilters, listUrl } from "./list-query.ts";
import { type SelectionRights, selectionBox, selectionForm } from "./selection-form.ts";

/** Content of the list of keys. */
export type KeyList = SelectionRights & {
  readonly query: KeyListFilters;
  readonly keys: readonly KeyRowJson[];
  readonly clusters: ClusterNames;
  readonly conditions: ConditionsById;
  /** Position where the next page begins; null on the last page. */
  readonly next: KeyPosition | null;
  /** Position that the previous page ends before; null on the first page. */
  readonly previous: KeyPosition | null;
  /** True if more keys may match but the search ended before the page was full. */
  readonly isPartial: boolean;
  /** Number of keys that match on all pages. */
  readonly total: BoundedCount;
  /** Names of teams that the filter offers: only some if there are very many. */
  readonly teams: readonly string[];
  /** Names from the issuer for a viewer who is in no team; null for all others. */
  readonly outsider: IssuedNames | null;
  /** True if the viewer may make a key in some team. */
  readonly mayCreate: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

const ORDERS: Readonly<Record<KeyOrder, string>> = {
  name: "By name",
  newest: "Newest first",
  oldest: "Oldest first",
  "used-last": "Last used first",
  "unused-longest": "Unused the longest",
  "ends-soonest": "Expires the soonest",
};
const TRAITS: Readonly<Record<KeyTrait, string>> = {
  declared: "Declared in a manifest",
  "by-hand": "Made by hand",
  leaked: "Reported as leaked",
  unused: "Unused for 30 days",
  "long-unused": "Unused for 90 days",
  endless: "Never expires",
};
const COLUMNS: readonly Column[] = [
  ["Name", "named"],
  ["Prefix", "plain"],
  ["State", "plain"],
  ["Scopes", "word", "plain"],
  ["Bound to", "word", "plain"],
  "Last use",
  "Expires",
  ["Declared in", "named", "plain"],
];

export function listContent(list: KeyList): Html {
  return html`<div class="head"><h1>API keys</h1><p class="actions">${
    list.mayCreate && html`<a class="button primary" href="/dashboard/keys/new">Create key</a>`
  }<a class="button" href="/dashboard/keys/find">Find by secret</a></p></div>
${filters(list)}
<div id="results">${results(list)}</div>`;
}

function results(list: KeyList): Html {
  if (list.keys.length === 0) return html`<div class="panel flush">${nothing(list)}${footOf(list)}</div>`;
  return selectionForm(
    listUrl(list.query),
    list,
    html`<div class="panel flush">${keyTable(list)}${footOf(list)}</div>`,
  );
}

const FACT_LABELS = FACT_NAMES.map((name) => factOf(name).label.toLowerCase());
const SEARCHED = ["Name", ...FACT_LABELS, "prefix"];

function filters({ query, teams }: KeyList): Html {
  return html`<form class="panel tight" role="search" aria-label="API keys" ${searchForm("/dashboard/keys")}>
<div class="filters">
<div class="field"><label class="unseen" for="q">Search</label>
<input id="q" name="q" type="search" aria-keyshortcuts="/" value="${query.text}" placeholder="${SEARCHED.join(", ")} or id" maxlength="253" autocomplete="off" spellcheck="false" data-search></div>
<div class="field"><label class="unseen" for="state">State</label><select id="state" name="state"><option value="">Any state${LISTED_STATES.map(
    (state) =>
      html`<option value="${state}" ${flag("selected", state === query.state)}>${state.charAt(0).toUpperCase()}${state.slice(1)}`,
  )}</select></div>
<div class="field"><label class="unseen" for="trait">Only</label><select id="trait" name="trait"><option value="">All keys${KEY_TRAITS.map(
    (trait) => html`<option value="${trait}" ${flag("selected", trait === query.trait)}>${TRAITS[trait]}`,
  )}</select></div>
${teamField(query.team, teams, "unseen")}
<div class="field"><label class="unseen" for="order">Sort by</label><select id="order" name="order">${KEY_ORDERS.map(
    (order) => html`<option value="${order}" ${flag("selected", order === query.order)}>${ORDERS[order]}`,
  )}</select></div>
${fewUse(query)}
<button>Search</button>
</div></form>`;
}

/** Renders the rarely used filters in a menu, whose button shows how many of them are set. */
function fewUse({ scope: chosen, model, bound }: KeyListFilters): Html {
  const count = [chosen ?? "", model, bound].filter((value) => value !== "").length;
  return html`<details class="menu"><summary class="button">More filters${count > 0 && ` (${count})`}</summary><div>
<div class="field"><label for="scope">Scope</label><select id="scope" name="scope"><option value="">Any${SCOPES.map(
    (scope) => html`<option value="${scope}" ${flag("selected", scope === chosen)}>${scope}`,
  )}</select></div>
<div class="field"><label for="model">May call model</label>
<input id="model" name="model" value="${model}" placeholder="Any" maxlength="253" autocomplete="off" spellcheck="false"></div>
<div class="field"><label for="bound">Gateway or library</label>
<input id="bound" name="bound" value="${bound}" placeholder="Any" maxlength="253" autocomplete="off" spellcheck="false"></div>
</div></details>`;
}

function keyTable({ keys, clusters, conditions, now }: KeyList): Html {
  const rows = keys.map((key) => [
    nameOf(key),
    html`<code>${key.prefix ?? "none yet"}</code>`,
    html`${stateBadge(key.state)}${leakedVersions(key).length > 0 && LEAKED_BADGE}${listedConditions(conditions.get(key.id), SAID_OF_KEYS)}`,
    scopesText(key),
    bindingsOf(key).map((binding, i) => html`${i > 0 && html`<br>`}${binding}`),
    key.lastUsedAt === null ? "Never" : ago(key.lastUsedAt, now),
    key.expiresAt === null ? "Never" : ago(key.expiresAt, now),
    isMadeByHand(key) ? declarationOf(key, clusters) : locationBadge(declarationOf(key, clusters)),
  ]);
  return table("API keys", COLUMNS, rows);
}

function nameOf({ id, name, displayName, team, spec }: KeyRowJson): Html {
  const isNamed = displayName !== "" && displayName !== name;
  return html`${selectionBox({ id, name })}<a href="/dashboard/keys/${id}">${name}</a><small>${isNamed && html`${displayName} · `}${team}${statedFacts(spec).map(([, text]) => html` · ${text}`)}</small>`;
}

/** Shows a viewer in no team the names by which a team could have them as a member. */
function noTeam({ subject, groups }: IssuedNames): Html {
  return html`<div class="empty"><h2>You are in no team</h2><p class="muted">Keys belong to teams. Send this to a person who writes PlatformTeams: a team has you as a member by your subject, or by one of your groups.</p>
<pre id="names" tabindex="0" aria-label="What your issuer says of you">${writeYaml({ subject, groups })}</pre>
<p class="actions"><button type="button" data-copy="names" hidden>Copy</button></p></div>`;
}

function nothing({ query, mayCreate, isPartial, outsider }: KeyList): Html {
  if (outsider !== null) return noTeam(outsider);
  if (isPartial) return html`<div class="empty"><p>None of the keys that were looked through so far.</p></div>`;
  if (listUrl({ ...query, order: "name" }) === "/dashboard/keys") {
    return html`<div class="empty"><h2>No API keys yet</h2><p class="muted">A key lets a program use a gateway or the memory, and no more than its scopes say.</p>${
      mayCreate && html`<a class="button primary" href="/dashboard/keys/new">Create key</a>`
    }</div>`;
  }
  return html`<div class="empty"><h2>No key matches</h2><p class="muted">Search for a part of a name${FACT_LABELS.map((label) => html`, ${label}`)} or display name, for the first 12 characters of a key, or for a key's id.</p>
<a class="button" href="/dashboard/keys">Show all keys</a></div>`;
}

function footOf({ query, keys, next, previous, isPartial, total }: KeyList): Html | string {
  if (next === null && previous === null && keys.length === 0) return "";
  const partly = "More keys may match: they are still to be looked through.";
  return html`${foot({
    said: isPartial ? partly : `${countOnPage(keys.length, "key", "keys")}, ${inAll(total)}`,
    first: previous === null ? undefined : listUrl({ ...query, after: undefined, before: undefined }),
    previous: previous === null ? undefined : listUrl({ ...query, after: undefined, before: previous }),
    next: next === null ? undefined : listUrl({ ...query, after: next, before: undefined }),
    isPartial: isPartial && query.before === undefined,
  })}${exportFoot(query)}`;
}
