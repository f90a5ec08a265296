import { API_MANAGED_KEY_FIELDS } from "../../../../domain/key/declaration/api-managed-key.ts";
import { MANAGED_BY_PATTERN, MAX_MANAGED_BY } from "../../../../domain/key/declaration/managed-by.ts";
import { SCHEMAS } from "../../../../domain/kinds/generated/schemas.ts";
import { jsonSchema, pickFields } from "../../../../domain/manifest/validation/json-schema.ts";
import { LISTED_STATES, type ListedState } from "../../../../store/keys/search/key-lists.ts";
import {
  NAME,
  NEW_NAME,
  NEW_NAMESPACE,
  PAGE,
  type PageQuery,
  REASON,
  type ReasonBody,
  type ReplaceBody,
  replaceBody,
  TEAM,
} from "../../request-schemas.ts";

/** Schemas of the requests about keys, and the types of requests that passed them. */
export type KeyListQuery = PageQuery & { team?: string; namespace?: string; name?: string; state?: ListedState };
export type ManifestQuery = { namespace?: string };
export type RotateBody = ReasonBody & { revokeOld: boolean };
/** Secret that the caller has made, by its hash. */
export type SourceJson = { hash: { sha256: string; prefix: string } };
export type CreateKeyBody = ReasonBody & {
  name: string;
  namespace: string;
  team: string;
  spec: unknown;
  source?: SourceJson;
  managedBy?: string | null;
};
/** Replacement of a key's spec. `managedBy` stays as it is if it is left out. */
export type ReplaceKeyBody = ReplaceBody & { managedBy?: string | null };
export type CreateVersionBody = ReasonBody & { source?: SourceJson; overlap?: string };

const PLATFORM_KEY = SCHEMAS.PlatformKey.properties?.spec?.properties;
const HASH = PLATFORM_KEY?.source?.properties?.hash;
const DURATION = PLATFORM_KEY?.rotation?.properties?.overlap?.properties?.duration;
if (HASH === undefined || DURATION === undefined) throw new Error("the schema of PlatformKey is another than it was");

/** Schema of a key's spec: a PlatformKey's, without the fields that only a controller can apply. */
export const KEY_SPEC: Readonly<Record<string, unknown>> = {
  title: "KeySpec",
  ...pickFields("PlatformKey", API_MANAGED_KEY_FIELDS),
};

const SOURCE = {
  type: "object",
  additionalProperties: false,
  required: ["hash"],
  description: "A secret that the caller has made. Where it is left out, the server mints one and answers it once.",
  properties: { hash: jsonSchema(HASH) },
} as const;

const MANAGED_BY = {
  type: ["string", "null"],
  maxLength: MAX_MANAGED_BY,
  pattern: MANAGED_BY_PATTERN,
  description:
    "The URN of the Pulumi resource that manages the key: the console shows it, and changes nothing of the key. Null for none.",
} as const;

export const KEY_LIST_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: { ...PAGE, team: NAME, namespace: NAME, name: NAME, state: { type: "string", enum: LISTED_STATES } },
} as const;
export const MANIFEST_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: {
    namespace: { ...NAME, description: "One that the key's team holds; the first of them where it is left out." },
  },
} as const;
export const ROTATE_BODY = {
  type: "object",
  additionalProperties: false,
  properties: { revokeOld: { type: "boolean", default: false }, reason: REASON },
} as const;
export const CREATE_KEY_BODY = {
  type: "object",
  additionalProperties: false,
  required: ["name", "team", "spec"],
  properties: {
    ...{ name: NEW_NAME, namespace: NEW_NAMESPACE, team: TEAM, spec: KEY_SPEC, source: SOURCE },
    ...{ managedBy: MANAGED_BY, reason: REASON },
  },
} as const;
export const CREATE_KEY_EXAMPLE = {
  name: "docs-agent",
  team: "research",
  spec: { preset: "MCPReadOnly", expiresAfter: "2160h" },
} as const;
export const CREATE_VERSION_BODY = {
  type: "object",
  additionalProperties: false,
  properties: {
    source: SOURCE,
    overlap: {
      ...jsonSchema(DURATION),
      description:
        "How long the version before works on; 24h where it is left out, 0s to end all earlier ones at once.",
    },
    reason: REASON,
  },
} as const;
const REPLACE_BODY = replaceBody(KEY_SPEC);
export const REPLACE_KEY_BODY = {
  ...REPLACE_BODY,
  properties: { ...REPLACE_BODY.properties, managedBy: MANAGED_BY },
} as const;
