import { type Content, type Html, html } from "../pages/html.ts";

/** Names and values of a list of facts. */
export type Facts = readonly (readonly [name: Content, value: Content])[];

export function factList(facts: Facts): Html {
  return html`<dl class="facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** Shows short texts as chips. */
export function chips(texts: readonly string[]): Html {
  return html`<span class="chips">${texts.map((text) => html`<span class="chip">${text}</span>`)}</span>`;
}
