import { PROBLEMS, type ProblemCode } from "../http/problems/catalogue.ts";
import type { Header, JsonSchema, MediaTypes, ResponseObject } from "./format.ts";

/** Schema of a problem document (RFC 9457), with Keyplane's own members. */
export const PROBLEM: JsonSchema = {
  title: "Problem",
  type: "object",
  required: ["type", "title", "status", "code", "detail"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string", enum: Object.keys(PROBLEMS) },
    detail: { type: "string", description: "What to do about it." },
    requestId: { type: "string", description: "As in `x-keyplane-request-id`; a 401 has it there alone." },
    id: { type: "string", description: "With exists and idempotency_mismatch: what is there." },
    retiresAt: {
      type: "string",
      format: "date-time",
      description: "With too_many_versions: when there is room again.",
    },
    errors: {
      type: "array",
      description: "With invalid: each field with what to write instead.",
      items: {
        type: "object",
        required: ["path", "message"],
        properties: {
          path: { type: "string" },
          message: { type: "string" },
          policy: { type: "string", description: "The PlatformKeyPolicy that asks for it, where one does." },
          rule: { type: "string", description: "Its rule, such as expiry.max." },
        },
      },
    },
  },
};

const TEXT = { type: "string" } as const;
const CHALLENGE: Header = { description: "`Bearer`.", required: true, schema: TEXT };
const RETRY_AFTER: Header = {
  description: "Seconds to wait before trying again.",
  required: true,
  schema: { type: "string", pattern: "^[1-9][0-9]*$" },
};
const READ_CODING: Header = {
  description: "`identity`, where the Content-Encoding is not supported: send the body as it is.",
  required: false,
  schema: { const: "identity" },
};
const HEADERS: Partial<Record<number, Readonly<Record<string, Header>>>> = {
  401: { "WWW-Authenticate": CHALLENGE },
  415: { "Accept-Encoding": READ_CODING },
  429: { "Retry-After": RETRY_AFTER },
  503: { "Retry-After": RETRY_AFTER },
};

/** Returns the body of the refusals with a status. */
export type RefusalBody = (status: number, codes: readonly ProblemCode[]) => MediaTypes;

/** Returns a problem document as the body of refusals. */
export const problemBody: RefusalBody = (status, codes) => ({
  "application/problem+json": {
    schema: { allOf: [PROBLEM], properties: { status: { const: status }, code: { enum: codes } } },
  },
});

/**
 * Returns the responses of an operation that refuses with these codes, by status.
 *
 * @param more additional headers, by status
 */
export function refusals(
  codes: readonly ProblemCode[],
  body: RefusalBody = problemBody,
  more: Partial<Record<number, Readonly<Record<string, Header>>>> = {},
): Record<string, ResponseObject> {
  const byStatus = Map.groupBy(new Set(codes), (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([one], [other]) => one - other)
      .map(([status, same]) => {
        const headers = { ...HEADERS[status], ...more[status] };
        return [
          String(status),
          {
            description: same.map((code) => `\`${code}\`: ${PROBLEMS[code].detail}`).join("\n\n"),
            ...(Object.keys(headers).length > 0 && { headers }),
            content: body(status, same),
            "x-problem-codes": same,
          },
        ];
      }),
  );
}
