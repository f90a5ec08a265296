import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { listedConditions } from "../../server/console/conditions/conditions-panel.ts";
import { declarationLocation, locationBadge } from "../../server/console/declared-in.ts";
import { refName } from "../../server/console/keys/key-words.ts";
import { countOnPage, foot, searchForm } from "../../server/console/page-links.ts";
import { teamField } from "../../server/console/team-field.ts";
import { ago } from "../../server/console/times.ts";
import { type Html, html } from "../../server/pages/html.ts";
import { type Column, table } from "../../server/pages/table.ts";
import type { ClusterNames } from "../../store/objects/cluster-names.ts";
import type { ConditionsById } from "../../store/objects/object-conditions.ts";
import type { StoredOf } from "../../store/objects/objects.ts";
import { type LibrariesQuery, librariesUrl } from "./library-query.ts";

export type StoredLibrary = StoredOf["library"];

/** Content of the list of libraries. */
export type LibraryList = {
  readonly clusters: ClusterNames;
  readonly query: LibrariesQuery;
  readonly libraries: readonly StoredLibrary[];
  /** Last id of this page; null at the end. */
  readonly nextId: string | null;
  /** Ids of the libraries that MCP clients of their team write to if a call names none. */
  readonly defaults: ReadonlySet<string>;
  readonly conditions: ConditionsById;
  /** Names of teams to choose from. */
  readonly teams: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
};

const COLUMNS: readonly Column[] = [
  ["Library", "named"],
  "Description",
  "Team",
  "When it is deleted",
  "Created",
  "Declared in",
];

export function librariesContent(list: LibraryList): Html {
  const { query, libraries, nextId, teams } = list;
  return html`<div class="head"><h1>Libraries</h1></div>
${
  (teams.length > 1 || query.team !== "") &&
  html`<form class="panel" role="search" aria-label="Libraries" ${searchForm("/dashboard/libraries")}><div class="filters short">${teamField(query.team, teams)}<button>Search</button></div></form>`
}
<div id="results" class="panel flush">${libraries.length === 0 ? nothing(query) : libraryTable(list)}${
    libraries.length > 0 &&
    foot({
      said: countOnPage(libraries.length, "library", "libraries"),
      first: query.afterId && librariesUrl({ ...query, afterId: undefined }),
      next: nextId === null ? undefined : librariesUrl({ ...query, afterId: nextId }),
      isPartial: false,
    })
  }</div>`;
}

function libraryTable({ libraries, clusters, defaults, conditions, now }: LibraryList): Html {
  const rows = libraries.map((library) => {
    const { id, displayName, name, description, team, deletionPolicy, createdAt } = library;
    return [
      html`<a href="/dashboard/libraries/${id}">${refName(library)}</a>${
        displayName !== name && html`<small>${displayName}</small>`
      }${defaults.has(id) && html`<span class="line"><span class="badge good">Default</span></span>`}${listedConditions(conditions.get(id))}`,
      description === "" ? html`<span class="muted">None</span>` : clamp(description),
      team,
      deletionPolicy === "Delete" ? "Its atoms go with it" : "Its atoms are kept",
      ago(rfc3339Millis(createdAt.getTime()), now),
      locationBadge(declarationLocation(library, clusters)),
    ];
  });
  return table("Libraries", COLUMNS, rows);
}

function clamp(text: string): string {
  return text.length > 240 ? `${text.slice(0, 240)}…` : text;
}

function nothing({ team, afterId }: LibrariesQuery): Html {
  if (team !== "" || afterId !== undefined) {
    return html`<div class="empty"><h2>No library matches</h2><p class="muted">Write a team's whole name, or its id.</p><a class="button" href="/dashboard/libraries">Show all libraries</a></div>`;
  }
  return html`<div class="empty"><h2>No libraries yet</h2><p class="muted">A library holds what a team's agents remember. Declare a MemoryLibrary, or have an admin of the team make one by the API; a key with the scope <code>memory:write</code> writes to it.</p><a class="button" href="/dashboard/keys">To the API keys</a></div>`;
}
