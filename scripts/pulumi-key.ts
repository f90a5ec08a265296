import { API_MANAGED_KEY_FIELDS } from "../domain/key/declaration/api-managed-key.ts";
import type { Schema } from "../domain/kinds/schema.ts";
import {
  described,
  locationProperties,
  need,
  type Property,
  propertiesOf,
  resource,
  type Signature,
  specProperties,
  TEAM_ID,
} from "./pulumi-resource.ts";

/** Returns the resource of a key: what the management API makes, and what the provider does besides. */
export function keyResource(crd: Schema): Signature {
  const spec = specProperties(crd);
  const rotation = propertiesOf(spec.rotation);
  const overlap = propertiesOf(rotation.overlap).duration;
  const made = API_MANAGED_KEY_FIELDS.map((name) => [name, need(spec[name], name)] as const);
  return resource(
    { ...crd, description: "An API key: what it may do, and how long it lives." },
    {
      ...locationProperties(crd),
      ...Object.fromEntries(made),
      state: { ...need(spec.state, "state"), description: SUSPENDABLE, enum: ["Active", "Suspended"] },
      deliver: {
        type: "string",
        description:
          "secret, the key comes out as secret, encrypted in the state; or none, it comes out nowhere and only its hash is kept.",
        enum: ["secret", "none"],
        default: "secret",
      },
      rotation: {
        ...need(spec.rotation, "rotation"),
        properties: {
          ...rotation,
          interval: { ...need(rotation.interval, "interval"), description: INTERVAL },
          overlap: { ...need(overlap, "overlap"), description: OVERLAP, default: "24h" },
        },
      },
      reason: { type: "string", description: "Why, for the audit log. Not a place for a secret.", maxLength: 500 },
    },
    {
      keyID: described(crd, "keyID"),
      prefix: described(crd, "keyPrefix"),
      effectiveScopes: described(crd, "effectiveScopes"),
      teamId: TEAM_ID,
      versions: versionsOf(crd),
      secret: {
        type: "string",
        description: "The key. Undefined with deliver: none, and of a key that was imported or is only looked up.",
        secret: true,
      },
    },
    {
      previousSecret: {
        type: "string",
        description: "The key before the last rotation, for as long as it works beside the new one.",
        secret: true,
      },
      expiresTime: described(crd, "expiresAt"),
      revocation: {
        type: "object",
        description: "The receipt of its revocation, where it is revoked.",
        required: ["reason", "at", "confirmed"],
        properties: {
          reason: { type: "string", description: "Why." },
          at: { type: "string", description: "When, RFC 3339." },
          sequence: { type: "integer", description: "Its place in the change feed." },
          confirmed: { type: "boolean", description: "Whether no server replica accepts the key any more." },
        },
      },
    },
  );
}

const SUSPENDABLE = "Active; or Suspended, refused until it is Active again. A key ends with its resource.";
const INTERVAL =
  "How old the key may become before an up puts a new one in its place: a Go duration such as 720h. Without it nothing rotates by time.";
const OVERLAP = "How long the old key works on beside the new one: a Go duration; 0s for not at all.";

function versionsOf(crd: Schema): Property {
  const versions = described(crd, "versions");
  const { keyPrefix, lastUsedTime: _, ...fields } = propertiesOf(versions.items);
  const state = { ...need(fields.state, "state"), enum: ["reserved", "active", "retiring", "retired", "revoked"] };
  return {
    ...versions,
    description: "Its versions, the newest first.",
    items: {
      ...need(versions.items, "versions[]"),
      required: ["number", "prefix", "state", "mintedAt"],
      properties: { ...fields, prefix: need(keyPrefix, "keyPrefix"), state },
    },
  };
}
