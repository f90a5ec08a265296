import { isOnCalendarDay } from "../../domain/rfc3339.ts";
import { problem } from "../http/problems/problem.ts";

/** Pattern without the NUL character, which the database does not store. */
const TEXT = "^[^\\u0000]*$";

/** Name of an object or a namespace in a query. */
export const NAME = { type: "string", minLength: 1, maxLength: 253, pattern: TEXT } as const;
export const PAGE = {
  limit: { type: "integer", minimum: 1, maximum: 200, default: 50 },
  cursor: { type: "string", maxLength: 64, description: "nextCursor of the page before." },
} as const;
/** Time in a query, in RFC 3339. */
export const MOMENT = {
  type: "string",
  maxLength: 40,
  pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+(Z|[+-]\\d\\d:\\d\\d)$",
} as const;

/**
 * Parses a time that {@link MOMENT} has let in, to milliseconds since the epoch.
 *
 * @throws Problem `invalid_request` for a text that is no time
 */
export function readMoment(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at) || !isOnCalendarDay(text)) {
    throw problem("invalid_request", "The query has a time that is no time of the calendar: write RFC 3339.");
  }
  return at;
}

export type PageQuery = { limit: number; cursor?: string };

export const OBJECTS_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: { ...PAGE, team: NAME, namespace: NAME, name: NAME },
} as const;
export type ObjectsQuery = PageQuery & { team?: string; namespace?: string; name?: string };

/** Name of a new object. The spec's check also checks the form of the name, so that all faults come at once. */
export const NEW_NAME = { ...NAME, description: "Its name, as Kubernetes has names, at most 63 characters." } as const;
export const NEW_NAMESPACE = {
  type: "string",
  maxLength: 253,
  pattern: TEXT,
  default: "",
  description: "One of the namespaces of a team that was made here; none where it is left out.",
} as const;
export const TEAM = {
  ...NAME,
  description: "The team's name, or its id where several clusters have one of this name.",
} as const;
export const REASON = {
  type: "string",
  minLength: 1,
  maxLength: 500,
  pattern: TEXT,
  description: "Why, for the audit log. Not a place for a secret.",
} as const;

export type ReasonBody = { reason?: string };
export const REASON_BODY = { type: "object", additionalProperties: false, properties: { reason: REASON } } as const;
export const REASON_EXAMPLE = { reason: "ticket 12" } as const;
export type ReplaceBody = ReasonBody & { spec: unknown };

/** Returns the schema of a body that gives an object another spec. */
export function replaceBody(spec: object) {
  return {
    type: "object",
    additionalProperties: false,
    required: ["spec"],
    properties: { spec, reason: REASON },
  } as const;
}
