import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { type Facts, factList } from "../../server/console/facts.ts";
import { refName } from "../../server/console/keys/key-words.ts";
import { moment } from "../../server/console/times.ts";
import { type Html, html } from "../../server/pages/html.ts";
import { isolated } from "../../server/pages/isolated-text.ts";
import type { Atom, AtomMetadata, AtomRevision } from "../store/rows/atom.ts";
import type { StoredLibrary } from "./libraries-page.ts";
import { stateBadges, tagChips } from "./library-page.ts";

/** Content of an atom's page. */
export type AtomPage = {
  readonly library: StoredLibrary;
  readonly atom: Atom;
  /** Atoms that it links to, by their ids. */
  readonly linked: ReadonlyMap<string, Atom>;
  /** Id of the atom that replaces it. */
  readonly replacedBy: string | undefined;
  /** Earlier revisions, the latest first. */
  readonly earlier: readonly AtomRevision[];
  /** Number of the last revision that is shown, if there are more; else null. */
  readonly moreBefore: number | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

/** Renders an atom: whatever is written in it is text. */
export function atomContent(page: AtomPage): Html {
  const { library, atom, replacedBy, earlier, moreBefore, now } = page;
  const path = `/dashboard/libraries/${library.id}`;
  return html`<div class="head"><div><p class="crumb"><a href="/dashboard/libraries">Libraries</a> / <a href="${path}">${refName(library)}</a></p><h1>Atom</h1>${stateBadges(atom, replacedBy, now)}</div></div>
<div class="columns"><div class="stack">
<section class="panel" aria-labelledby="content"><h2 id="content">Content</h2><div class="atom-text whole" dir="auto" tabindex="0" role="group" aria-labelledby="content" id="text">${atom.content}</div><p class="actions"><button type="button" data-copy="text" hidden>Copy text</button></p></section>
${
  earlier.length > 0 &&
  html`<section class="panel" aria-labelledby="earlier"><h2 id="earlier">Earlier revisions</h2>${earlier.map((revision) => earlierRevision(revision, now))}${
    moreBefore !== null &&
    html`<p><a class="button" href="${path}/atoms/${atom.id}?before=${moreBefore}">Earlier</a></p>`
  }</section>`
}
</div><div class="stack">
<section class="panel" aria-labelledby="facts"><h2 id="facts">Details</h2>${facts(page)}</section></div></div>`;
}

function facts({ library, atom, linked, replacedBy, now }: AtomPage): Html {
  const { id, tags, source, importance, metadata, links, createdAt, updatedAt, revision, ...times } = atom;
  const rows: Facts = [
    ["Tags", tags.length === 0 ? "None" : tagChips(library.id, tags)],
    ["Source", source === null ? "Not said" : html`<bdi>${source}</bdi>`],
    ["Importance", `${importance} of 10`],
    ["Metadata", Object.keys(metadata).length === 0 ? "None" : html`<bdi>${metadataText(metadata)}</bdi>`],
    [
      "Links",
      links.length === 0
        ? "None"
        : links.map(
            ({ rel, id }) =>
              html`<a href="/dashboard/libraries/${linked.get(id)?.library.id ?? library.id}/atoms/${id}"><bdi>${rel}</bdi></a> `,
          ),
    ],
    ...(replacedBy === undefined
      ? []
      : [
          [
            "Replaced by",
            html`<a href="/dashboard/libraries/${library.id}/atoms/${replacedBy}"><code>${replacedBy}</code></a>`,
          ] as const,
        ]),
    ["Valid from", momentOr("Not said", times.validFrom, now)],
    ["Valid until", momentOr("Not said", times.validTo, now)],
    ["Expires", momentOr("Never", times.expiresAt, now)],
    ["Revision", revision],
    ["Created", moment(rfc3339Millis(createdAt), now)],
    ["Updated", moment(rfc3339Millis(updatedAt), now)],
    ["Team", library.team],
    ["Id", html`<code>${id}</code>`],
  ];
  return factList(rows);
}

function momentOr(otherwise: string, ms: number | null, now: number): Html | string {
  return ms === null ? otherwise : moment(rfc3339Millis(ms), now);
}

function metadataText(metadata: AtomMetadata): string {
  return Object.entries(metadata)
    .map(([name, value]) => `${isolated(name)}: ${isolated(String(value))}`)
    .join(", ");
}

function earlierRevision({ revision, content, tags, source, importance, updatedAt }: AtomRevision, now: number): Html {
  const more = [
    `importance ${importance}`,
    ...tags.map((tag) => `tag ${isolated(tag)}`),
    ...(source === null ? [] : [`from ${isolated(source)}`]),
  ];
  return html`<details><summary>Revision ${revision}, ${moment(rfc3339Millis(updatedAt), now)}</summary><p class="muted small"><bdi>${more.join(" · ")}</bdi></p><div class="atom-text whole" dir="auto">${content}</div></details>`;
}
