import { closedObject, RECEIPT, TEXT, TIME_OR_NULL } from "../management/response-schemas.ts";
import { LEAK_OUTCOMES } from "./act.ts";
import { MAX_LEAKS } from "./report.ts";

const TEXT_OR_NULL = { type: ["string", "null"] } as const;

/** Schema of a report for the API description alone: a body is checked only once its sender is known. */
export const LEAKS_BODY = {
  title: "LeakReport",
  type: "object",
  additionalProperties: false,
  required: ["leaks"],
  properties: {
    leaks: {
      type: "array",
      maxItems: MAX_LEAKS,
      items: {
        type: "object",
        additionalProperties: false,
        minProperties: 1,
        maxProperties: 1,
        properties: {
          key: { type: "string", description: "The whole key." },
          sha256: { type: "string", pattern: "^[0-9A-Fa-f]{64}$", description: "Of the whole key." },
        },
      },
    },
    dryRun: { type: "boolean", default: false, description: "Only says what each is: nothing is recorded or ended." },
  },
} as const;

/** Schema of a report of GitHub's secret scanning partner program. */
export const GITHUB_REPORT = {
  title: "GithubReport",
  type: "array",
  items: {
    type: "object",
    required: ["token"],
    properties: { token: TEXT, type: TEXT, url: TEXT, source: TEXT },
  },
} as const;
export const GITHUB_FEEDBACK = {
  title: "GithubFeedback",
  type: "array",
  items: {
    type: "object",
    required: ["token_hash", "label"],
    properties: {
      token_hash: TEXT,
      token_type: TEXT,
      label: { type: "string", enum: ["true_positive", "false_positive"] },
    },
  },
} as const;

export const RECEIVED = closedObject("Received", { status: { const: "received" } });

const LEAK = closedObject("Leak", {
  state: {
    type: "string",
    enum: ["unknown", "active", "suspended", "expired", "retired", "revoked"],
    description: "What the secret is now; unknown for what is not a key of your teams.",
  },
  keyId: TEXT_OR_NULL,
  version: { type: ["integer", "null"] },
  prefix: TEXT_OR_NULL,
  name: TEXT_OR_NULL,
  namespace: TEXT_OR_NULL,
  team: TEXT_OR_NULL,
  teamId: TEXT_OR_NULL,
  leakedAt: { ...TIME_OR_NULL, description: "When it was first reported." },
  outcome: { type: "string", enum: [...LEAK_OUTCOMES], description: "What this report has changed." },
});

/** Schema of the answer to an authenticated caller, in the order of the request. */
export const LEAKS = closedObject("Leaks", {
  leaks: { type: "array", items: LEAK },
  change: { ...RECEIPT, title: "LeakReceipt", type: ["object", "null"], description: "Of what has ended." },
});
