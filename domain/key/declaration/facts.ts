import type { Spec } from "../../kinds/kinds.ts";

/** What a declaration says of a key for people: stored as it is, shown wherever the key is, and read by no decision. */
type Fact = { readonly label: string; readonly hint: string };

const FACTS = {
  owner: { label: "Owner", hint: "Whom to ask about the key, such as an address." },
} as const satisfies { readonly [F in keyof Spec<"PlatformKey">]?: Fact };

export type FactName = keyof typeof FACTS;
/** Null where a declaration says nothing of it. */
export type StatedFacts = { readonly [F in FactName]: string | null };

/** In the order in which they are shown. */
export const FACT_NAMES: readonly FactName[] = Object.keys(FACTS).filter((name): name is FactName => name in FACTS);

/** What people call a fact, and what a form asks for. */
export function factOf(name: FactName): Fact {
  return FACTS[name];
}

/** Something of each fact, such as a field of a form. Cast: each name is given its own. */
export function eachFact<T>(of: (name: FactName) => T): { readonly [F in FactName]: T } {
  return Object.fromEntries(FACT_NAMES.map((name) => [name, of(name)])) as { readonly [F in FactName]: T };
}

/** The facts that are stated, each with what people call it. */
export function statedFacts(
  stated: { readonly [F in FactName]?: string | null } | undefined,
): (readonly [label: string, text: string])[] {
  return FACT_NAMES.flatMap((name) => {
    const text = stated?.[name] ?? null;
    return text === null ? [] : [[factOf(name).label, text] as const];
  });
}
