import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import type { KeyEvent } from "../../../../store/keys/events/key-events.ts";
import { eventText } from "../../../management/audit/event-text.ts";
import { type Html, html } from "../../../pages/html.ts";
import { moment, withMoments } from "../../times.ts";

export function eventList(events: readonly KeyEvent[], now: number): Html {
  if (events.length === 0) return html`<p class="muted">Nothing is kept of it any more.</p>`;
  return html`<ul class="events">${events.map(({ at, kind, actor, detail }) => {
    const { why, actorName } = detail;
    return html`<li><span>${withMoments(eventText(kind, detail), now)}</span>${
      typeof why === "string" && html`<span>“${why}”</span>`
    }<span class="muted small">${typeof actorName === "string" && actorName !== "" ? actorName : actor} · ${moment(rfc3339Millis(at), now)}</span></li>`;
  })}</ul>`;
}
