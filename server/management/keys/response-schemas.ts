import { CHANGE, closed, declaredIn, RECEIPT_FIELDS, TEXT, TIME, TIME_OR_NULL } from "../response-schemas.ts";
import { KEY_SPEC } from "./request-schemas.ts";

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

/** A key as it is shown. */
export const KEY = closed(
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
    spec: KEY_SPEC,
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
