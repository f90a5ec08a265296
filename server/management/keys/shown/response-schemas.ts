import { MAX_CALLER_NETWORKS } from "../../../../domain/access/caller-network.ts";
import { API_MANAGED_KEY_FIELDS } from "../../../../domain/key/declaration/api-managed-key.ts";
import { TAKE_OVER_ANNOTATION } from "../../../../domain/key/observed/take-over.ts";
import { API_VERSION } from "../../../../domain/kinds/kinds.ts";
import { pickFields } from "../../../../domain/manifest/validation/json-schema.ts";
import { NOTES_KEPT_DAYS } from "../../../../store/keys/uses/daily-notes.ts";
import {
  CHANGE_FIELD,
  closedObject,
  declaredInSchema,
  RECEIPT_FIELDS,
  TEXT,
  TIME_OR_NULL,
  TIMESTAMP,
} from "../../response-schemas.ts";
import { KEY_SPEC } from "../request/request-schemas.ts";

const VERSION = closedObject("Version", {
  number: { type: "integer" },
  prefix: TEXT,
  state: { type: "string", enum: ["reserved", "active", "retiring", "retired", "revoked"] },
  mintedAt: TIMESTAMP,
  activatedAt: TIME_OR_NULL,
  retiresAt: TIME_OR_NULL,
  expiresAt: TIME_OR_NULL,
  lastUsedAt: TIME_OR_NULL,
  leakedAt: { ...TIME_OR_NULL, description: "When it was first reported as leaked." },
});

/** Schema of a declaration that takes a key over. */
export const KEY_MANIFEST = closedObject("KeyManifest", {
  apiVersion: { const: API_VERSION },
  kind: { const: "PlatformKey" },
  metadata: closedObject("KeyManifestMetadata", {
    name: TEXT,
    namespace: TEXT,
    annotations: closedObject("TakeOverAnnotation", { [TAKE_OVER_ANNOTATION]: TEXT }),
  }),
  spec: pickFields("PlatformKey", [...API_MANAGED_KEY_FIELDS, "source"]),
});

/** Schema of a key as it is shown. */
export const KEY = closedObject(
  "Key",
  {
    id: TEXT,
    prefix: { type: ["string", "null"], description: "The first 12 characters, which do not authenticate." },
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
    lastNetworks: {
      type: "array",
      items: closedObject("CallerNetwork", {
        network: {
          ...TEXT,
          description:
            "A /24 of IPv4 or a /56 of IPv6; `unknown` for calls without an address, `introspection` for a service that asked about the key.",
        },
        lastSeenOn: { ...TEXT, description: "The last day in UTC, as 2026-11-25." },
      }),
      description: `From where it was called in the last ${NOTES_KEPT_DAYS} days: the last ${MAX_CALLER_NETWORKS} networks, the last first.`,
    },
    createdAt: TIMESTAMP,
    declaredIn: declaredInSchema("PlatformKey"),
    released: {
      type: "boolean",
      description: "Its declaration has let go of it: it can be revoked, and nothing else.",
    },
    managedBy: {
      type: ["string", "null"],
      description:
        "What manages the key where no PlatformKey does: the URN of a Pulumi resource, or the library whose own key it is; null for nothing.",
    },
    rotationRequestedAt: TIME_OR_NULL,
    spec: KEY_SPEC,
    revocation: {
      type: ["object", "null"],
      additionalProperties: false,
      required: ["reason", "at", "sequence", "confirmed"],
      properties: { reason: TEXT, at: TIMESTAMP, ...RECEIPT_FIELDS },
    },
    secret: {
      type: ["string", "null"],
      description: "The full key, in the answer to the request that had the server mint it; it is not kept.",
    },
    ...CHANGE_FIELD,
  },
  ["secret", "change"],
);
