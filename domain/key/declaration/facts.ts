import type { Spec } from "../../kinds/kinds.ts";

/** Information in a declaration that is for people: stored as it is, shown with the key, and read by no decision. */
type Fact = { readonly label: string; readonly hint: string };

const FACTS = {
  owner: { label: "Owner", hint: "Whom to ask about the key, such as an address." },
} as const satisfies { readonly [F in keyof Spec<"PlatformKey">]?: Fact };

export type FactName = keyof typeof FACTS;
/** Facts as declared; null for each that the declaration does not state. */
export type StatedFacts = { readonly [F in FactName]: string | null };

/** Names of the facts, in the order in which they are shown. */
export const FACT_NAMES: readonly FactName[] = Object.keys(FACTS).filter((name): name is FactName => name in FACTS);

/** Returns the label of a fact for people, and the hint in a form. */
export function factOf(name: FactName): Fact {
  return FACTS[name];
}

/** Builds a value for each fact, such as a field of a form. Cast: each name is given its own. */
export function eachFact<T>(of: (name: FactName) => T): { readonly [F in FactName]: T } {
  return Object.fromEntries(FACT_NAMES.map((name) => [name, of(name)])) as { readonly [F in FactName]: T };
}

/** Returns the facts that are stated, each with its label. */
export function statedFacts(
  stated: { readonly [F in FactName]?: string | null } | undefined,
): (readonly [label: string, text: string])[] {
  return FACT_NAMES.flatMap((name) => {
    const text = stated?.[name] ?? null;
    return text === null ? [] : [[factOf(name).label, text] as const];
  });
}
