import { type Content, type Html, html } from "../pages/html.ts";

/** What is known of something, each by its name. */
export type Facts = readonly (readonly [name: Content, value: Content])[];

export function factList(facts: Facts): Html {
  return html`<dl class="facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** Short texts, each by itself. */
export function chips(texts: readonly string[]): Html {
  return html`<span class="chips">${texts.map((text) => html`<span class="chip">${text}</span>`)}</span>`;
}
