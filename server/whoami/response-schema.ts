import { eachFact, factOf } from "../../domain/key/declaration/facts.ts";
import { closedObject, TEXT, TIME_OR_NULL, TIMESTAMP } from "../management/response-schemas.ts";

const TEXT_OR_NULL = { type: ["string", "null"] } as const;
const LIMIT = { type: ["integer", "null"], description: "Null for none of its own." } as const;
const LIMITS = {
  additionalProperties: false,
  required: ["requestsPerMinute", "burst", "tokensPerMinute", "scope", "concurrent"],
  properties: {
    ...{ requestsPerMinute: LIMIT, burst: LIMIT, tokensPerMinute: LIMIT },
    scope: { ...TEXT_OR_NULL, description: "Who counts requests and tokens: each Replica, or the Installation." },
    concurrent: LIMIT,
  },
} as const;

/** Schema of what a key's holder may read of it: all fields are present, and null if they are not set. */
export const WHOAMI = closedObject("Whoami", {
  id: TEXT,
  prefix: { ...TEXT_OR_NULL, description: "The first 12 characters of the key that was sent." },
  name: TEXT,
  displayName: TEXT,
  ...eachFact((name) => ({ ...TEXT_OR_NULL, description: factOf(name).hint })),
  namespace: TEXT,
  team: TEXT,
  teamId: TEXT,
  state: { const: "active", description: "A key in another state is refused." },
  scopes: { type: "array", items: TEXT },
  libraryAccess: {
    type: "object",
    additionalProperties: false,
    required: ["mode", "libraries"],
    properties: {
      mode: { type: "string", enum: ["All", "Restricted"] },
      libraries: {
        type: ["array", "null"],
        items: TEXT,
        description: "Those that the key may reach, as it may name them; null for all of the team's.",
      },
    },
  },
  subjectAccess: {
    type: ["object", "null"],
    additionalProperties: false,
    required: ["mode"],
    properties: { mode: { type: "string", enum: ["Bound", "Required"] }, subject: TEXT },
    description: "Whose memory it is for; null for what all share.",
  },
  allowedCIDRs: {
    type: ["array", "null"],
    items: TEXT,
    description: "The networks that it may be used from; null for anywhere.",
  },
  teamAllowedCIDRs: {
    type: ["array", "null"],
    items: TEXT,
    description: "Those that its team's keys may be used from: both lists hold. Null for anywhere.",
  },
  defaultLibrary: {
    ...TEXT_OR_NULL,
    description: "What an MCP tool uses where no library is named: the key's own default, else the team's.",
  },
  gateway: {
    ...TEXT_OR_NULL,
    description: "The public id of the one gateway that it may call; null for any of the team's. Empty for none.",
  },
  allowedModels: { type: ["array", "null"], items: TEXT },
  limits: { type: "object", ...LIMITS },
  teamLimits: {
    type: ["object", "null"],
    ...LIMITS,
    description: "Those of all calls of its team together: both hold. Null for none.",
  },
  expiresAt: { ...TIME_OR_NULL, description: "Of the key or of this version, whichever ends first." },
  version: {
    type: "object",
    additionalProperties: false,
    required: ["number", "state", "mintedAt", "retiresAt"],
    properties: {
      number: { type: "integer" },
      state: { type: "string", enum: ["reserved", "active", "retiring"] },
      mintedAt: { ...TIMESTAMP, type: ["string", "null"] },
      retiresAt: { ...TIME_OR_NULL, description: "When this version stops working: another has taken its place." },
    },
  },
});
