/** JSON Schemas of the answers of the management API, for its description. A test checks the answers against them. */

export const TIMESTAMP = { type: "string", format: "date-time" } as const;
export const TIME_OR_NULL = { type: ["string", "null"], format: "date-time" } as const;
export const TEXT = { type: "string" } as const;

/** Returns the schema of an object whose fields are all present, but for `optional`: an unknown value is null. */
export function closedObject(
  title: string,
  properties: Readonly<Record<string, object>>,
  optional: readonly string[] = [],
) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { title, type: "object", additionalProperties: false, required, properties } as const;
}

export const RECEIPT_FIELDS = {
  sequence: { type: ["integer", "null"], description: "The change's number in the feed." },
  confirmed: { type: "boolean", description: "Whether every replica decides by it, or refuses everything." },
} as const;
export const RECEIPT = closedObject("Receipt", RECEIPT_FIELDS);

/** Field of the receipt, only in the answer to a change. */
export const CHANGE_FIELD = { change: RECEIPT } as const;

/** Returns the schema of the field `declaredIn`. @param kind kind of the declaring object */
export function declaredInSchema(kind: string) {
  return {
    type: ["object", "null"],
    description: "The declaration that governs it; null for one that was made here, or that is governed by none.",
    additionalProperties: false,
    required: ["cluster", "kind", "uid"],
    properties: { cluster: TEXT, kind: { const: kind }, uid: TEXT },
  } as const;
}

/** Returns the schema of an object. @param more fields of the kind besides those of every object */
export function objectSchema(title: string, kind: string, spec: object, more: Readonly<Record<string, object>>) {
  const home = kind === "PlatformTeam" ? {} : { namespace: TEXT, team: TEXT, teamId: TEXT };
  const fields = {
    id: TEXT,
    name: TEXT,
    ...home,
    createdAt: TIMESTAMP,
    declaredIn: declaredInSchema(kind),
    ...more,
    spec,
    ...CHANGE_FIELD,
  };
  return closedObject(title, fields, ["change"]);
}

export function pageSchema(item: { readonly title: string }) {
  return closedObject(`${item.title}Page`, {
    items: { type: "array", items: item },
    nextCursor: { type: ["string", "null"], description: "To be given as cursor for the next page." },
  });
}
