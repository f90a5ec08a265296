/** What the management API answers, as JSON Schema: for its description. A test holds the answers to it. */

const TIME = { type: "string", format: "date-time" } as const;
const TIME_OR_NULL = { type: ["string", "null"], format: "date-time" } as const;
const TEXT = { type: "string" } as const;

/** All fields are there: what is unknown is null. */
function closed(title: string, properties: Readonly<Record<string, object>>, optional: readonly string[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { title, type: "object", additionalProperties: false, required, properties } as const;
}

const RECEIPT_FIELDS = {
  sequence: { type: ["integer", "null"], description: "The change's number in the feed." },
  confirmed: { type: "boolean", description: "Whether every replica decides by it, or refuses everything." },
} as const;
export const RECEIPT = closed("Receipt", RECEIPT_FIELDS);

/** Only in the answer to a change. */
const CHANGE = { change: RECEIPT } as const;

function declaredIn(kind: string) {
  return {
    type: ["object", "null"],
    description: "The declaration that governs it; null for one that was made here, or that is governed by none.",
    additionalProperties: false,
    required: ["cluster", "kind", "uid"],
    properties: { cluster: TEXT, kind: { const: kind }, uid: TEXT },
  } as const;
}

const VERSION = closed("Version", {
  number: { type: "integer" },
  prefix: TEXT,
  state: { type: "string", enum: ["reserved", "active", "retiring", "retired", "revoked"] },
  mintedAt: TIME,
  activatedAt: TIME_OR_NULL,
  retiresAt: TIME_OR_NULL,
  expiresAt: TIME_OR_NULL,
  lastUsedAt: TIME_OR_NULL,
});

/** @param spec the schema of the spec that was given */
export function keySchema(spec: object) {
  return closed(
    "Key",
    {
      id: TEXT,
      prefix: { type: ["string", "null"], description: "The first 12 characters, which authenticate nobody." },
      name: TEXT,
      displayName: TEXT,
      namespace: TEXT,
      team: TEXT,
      teamId: TEXT,
      scopes: { type: "array", items: TEXT },
      state: { type: "string", enum: ["active", "suspended", "expired", "revoked"] },
      versions: { type: "array", items: VERSION },
      expiresAt: TIME_OR_NULL,
      lastUsedAt: TIME_OR_NULL,
      createdAt: TIME,
      declaredIn: declaredIn("PlatformKey"),
      rotationRequestedAt: TIME_OR_NULL,
      spec,
      revocation: {
        type: ["object", "null"],
        additionalProperties: false,
        required: ["reason", "at", "sequence", "confirmed"],
        properties: { reason: TEXT, at: TIME, ...RECEIPT_FIELDS },
      },
      secret: {
        type: ["string", "null"],
        description: "The full key, in the answer to the request that had the server mint it; it is not kept.",
      },
      ...CHANGE,
    },
    ["secret", "change"],
  );
}

/** @param more what the kind has besides */
export function objectSchema(title: string, kind: string, spec: object, more: Readonly<Record<string, object>>) {
  const home = kind === "PlatformTeam" ? {} : { namespace: TEXT, team: TEXT, teamId: TEXT };
  const fields = {
    id: TEXT,
    name: TEXT,
    ...home,
    createdAt: TIME,
    declaredIn: declaredIn(kind),
    ...more,
    spec,
    ...CHANGE,
  };
  return closed(title, fields, ["change"]);
}

export function pageSchema(item: { readonly title: string }) {
  return closed(`${item.title}Page`, {
    items: { type: "array", items: item },
    nextCursor: { type: ["string", "null"], description: "To be given as cursor for the next page." },
  });
}
