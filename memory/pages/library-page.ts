import type { ReportedCondition } from "../../domain/conditions.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { conditionsBadge, conditionsPanel } from "../../server/console/conditions/conditions-panel.ts";
import { declarationLocation } from "../../server/console/declared-in.ts";
import { type Facts, factList } from "../../server/console/facts.ts";
import { refName } from "../../server/console/keys/key-words.ts";
import { countOnPage, foot, searchForm } from "../../server/console/page-links.ts";
import { urlWithQuery } from "../../server/console/query-text.ts";
import { ago } from "../../server/console/times.ts";
import { type Content, type Html, html } from "../../server/pages/html.ts";
import type { ClusterNames } from "../../store/objects/cluster-names.ts";
import type { ExtractionState } from "../store/extraction/extraction-state.ts";
import type { Atom } from "../store/rows/atom.ts";
import type { Snippet } from "../store/search/words/snippet.ts";
import type { StoredLibrary } from "./libraries-page.ts";
import { type AtomsQuery, atomsUrl } from "./library-query.ts";

/** Atom in a list, with a snippet if a search has found it. */
export type ListedAtom = Partial<Snippet> & {
  readonly atom: Atom;
  /** Id of the atom that replaces it. */
  readonly replacedBy?: string | undefined;
};

/** Content of a library's page. */
export type LibraryPage = {
  readonly clusters: ClusterNames;
  readonly library: StoredLibrary;
  readonly isDefault: boolean;
  readonly count: { readonly atoms: number; readonly isMore: boolean };
  /** State of the library's conversations; undefined if it takes none. */
  readonly extraction: ExtractionState | undefined;
  /** Conditions of the library; undefined for a library that the API made. */
  readonly conditions: readonly ReportedCondition[] | undefined;
  readonly query: AtomsQuery;
  readonly atoms: readonly ListedAtom[];
  /** Position behind which the next page begins. */
  readonly next: AtomsQuery["after"];
  /** Milliseconds since the epoch. */
  readonly now: number;
};

/** Characters of an atom in a list. */
export const EXCERPT = 420;

export function libraryContent(page: LibraryPage): Html {
  const { library, query, atoms, next } = page;
  const { id } = library;
  const isSearch = query.text !== "";
  const said = countOnPage(atoms.length, "atom", "atoms");
  return html`<div class="head"><div><p class="crumb"><a href="/dashboard/libraries">Libraries</a></p><h1>${refName(library)}</h1>${conditionsBadge(page.conditions)}</div><p class="actions"><a class="button" href="${urlWithQuery("/dashboard/keys", { bound: id })}">Keys</a><a class="button" href="${urlWithQuery("/dashboard/audit", { about: id })}">Audit log</a></p></div>
${conditionsPanel(page.conditions, page.now)}
${facts(page)}
${page.extraction !== undefined && conversations(page.extraction)}
<form class="panel" role="search" aria-label="Atoms" ${searchForm(`/dashboard/libraries/${id}`)}>
<div class="filters atoms"><div class="field"><label for="q">Search</label><input id="q" name="q" type="search" aria-keyshortcuts="/" value="${query.text}" placeholder="Words, &quot;a phrase&quot;, or, -not" maxlength="1000" autocomplete="off"></div>
<div class="field"><label for="tag">Tag</label><input id="tag" name="tag" value="${query.tag}" placeholder="Any" maxlength="64" autocomplete="off"></div>
<button>Search</button></div></form>
<div id="results" class="panel flush">${
    atoms.length === 0
      ? nothing(page)
      : html`<ul class="atoms" aria-label="Atoms">${atoms.map((atom) => listed(atom, page))}</ul>`
  }${
    (atoms.length > 0 || query.after !== null) &&
    foot({
      said: `${said}, the ${isSearch ? "closest" : "newest"} first`,
      first: query.after === null ? undefined : atomsUrl(id, { ...query, after: null }),
      next: next === null ? undefined : atomsUrl(id, { ...query, after: next }),
      isPartial: false,
    })
  }</div>`;
}

/** Renders how the library takes atoms out of conversations, and the state of the conversations. */
function conversations(extraction: ExtractionState): Html {
  const { gateway, model, isRevoked, tokensPerDay, usedTokens, waiting, failed, lastFailure } = extraction;
  const number = (of: number) => of.toLocaleString("en");
  const rows: Facts = [
    ...(isRevoked ? [["State", html`<span class="badge bad">Its key was revoked: none are read</span>`] as const] : []),
    [
      "Gateway",
      gateway === null ? "It is gone" : html`<a href="/dashboard/gateways/${gateway.id}">${refName(gateway)}</a>`,
    ],
    ["Model", model],
    ["Waiting", number(waiting)],
    ["Failed in the last day", number(failed)],
    ...(lastFailure === null ? [] : [["Last failure", lastFailure] as const]),
    ["Tokens today (UTC)", `${number(usedTokens)} of ${number(tokensPerDay)}`],
  ];
  return html`<section class="panel" aria-labelledby="conversations"><h2 id="conversations">Conversations</h2>${factList(rows)}</section>`;
}

function facts({ library, clusters, isDefault, extraction, count, now }: LibraryPage): Html {
  const { id, displayName, name, description, team, deletionPolicy, createdAt } = library;
  const rows: readonly (readonly [string, Content])[] = [
    ["Atoms", `${count.atoms}${count.isMore ? " and more" : ""}`],
    ["Team", team],
    [
      "Keys",
      html`<a href="${urlWithQuery("/dashboard/keys", { bound: id })}">Those that are bound to it</a>; others of the team may use it too`,
    ],
    ...(displayName === name ? [] : [["Display name", displayName] as const]),
    ...(description === "" ? [] : [["Description", description] as const]),
    ...(isDefault ? [["Default", "MCP clients of the team write here where they name no library"] as const] : []),
    ...(extraction === undefined ? [["Conversations", "Not taken: no spec.extraction is declared"] as const] : []),
    ["When it is deleted", deletionPolicy === "Delete" ? "Its atoms go with it, for ever" : "Its atoms are kept"],
    ["Declared in", declarationLocation(library, clusters)],
    ["Created", ago(rfc3339Millis(createdAt.getTime()), now)],
    ["Id", html`<code>${id}</code>`],
  ];
  return html`<details class="panel"><summary>${count.atoms}${count.isMore && "+"} ${count.atoms === 1 ? "atom" : "atoms"} of ${team}${isDefault && html` <span class="badge good">Default</span>`}</summary><dl class="facts">${rows.map(([title, value]) => html`<dt>${title}</dt><dd>${value}</dd>`)}</dl></details>`;
}

function listed(
  { atom, snippet, matches, replacedBy }: ListedAtom,
  { library: { id: libraryId }, query, now }: LibraryPage,
): Html {
  const { id, content, tags, source, importance, updatedAt, revision } = atom;
  return html`<li><p class="atom-text" dir="auto">${snippet === undefined ? excerpt(content) : marked(snippet, matches ?? [])}</p>
<p class="actions small">${stateBadges(atom, replacedBy, now)}${tagChips(libraryId, tags, query.text)}<span class="muted">importance ${importance} · revision ${revision} · ${ago(rfc3339Millis(updatedAt), now)}${
    source !== null && html` · from <bdi>${source}</bdi>`
  }</span><a href="/dashboard/libraries/${libraryId}/atoms/${id}" aria-label="Read atom ${id}">Read</a></p></li>`;
}

/** Renders why an atom is not to be relied on now: another one replaces it, or it is not valid yet or any more. */
export function stateBadges(
  { validFrom, validTo }: Pick<Atom, "validFrom" | "validTo">,
  replacedBy: string | undefined,
  now: number,
): Html {
  const validity =
    validTo !== null && validTo <= now ? "No longer valid" : validFrom !== null && validFrom > now && "Not valid yet";
  return html`${replacedBy !== undefined && html`<span class="badge warn">Replaced</span>`}${
    validity && html`<span class="badge warn">${validity}</span>`
  }`;
}

/** Renders tags, each as a link to the atoms that have it too. */
export function tagChips(libraryId: string, tags: readonly string[], text = ""): Html | string {
  if (tags.length === 0) return "";
  return html`<span class="chips">${tags.map(
    (tag) => html`<a class="chip" dir="auto" href="${atomsUrl(libraryId, { text, tag })}">${tag}</a>`,
  )}</span>`;
}

function excerpt(content: string): string {
  return content.length > EXCERPT ? `${content.slice(0, EXCERPT).toWellFormed()}…` : content;
}

/** Renders a snippet with its matches marked. */
function marked(snippet: string, matches: Snippet["matches"]): Content {
  const begins = [0, ...matches.map(({ to }) => to)];
  return begins.map((begin, at) => {
    const match = matches[at];
    const between = snippet.slice(begin, match?.from);
    return match === undefined ? between : html`${between}<mark>${snippet.slice(match.from, match.to)}</mark>`;
  });
}

function nothing({ query: { text, tag, after }, library: { id } }: LibraryPage): Html {
  if (text === "" && tag === "" && after === null) {
    return html`<div class="empty"><h2>No atoms yet</h2><p class="muted">A key with the scope <code>memory:write</code> writes them, over REST or MCP. What is written is here at once.</p><a class="button" href="/dashboard/keys/new">Create key</a></div>`;
  }
  return html`<div class="empty"><h2>No atom matches</h2><p class="muted">Words are looked for in their basic forms; a tag is looked for whole.</p><a class="button" href="/dashboard/libraries/${id}">Show the newest atoms</a></div>`;
}
