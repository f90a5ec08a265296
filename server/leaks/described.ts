import type { Operation, Paths } from "../openapi/format.ts";
import { refusals } from "../openapi/refusals.ts";
import { managementSecurity } from "../openapi/security.ts";
import { GITHUB_FEEDBACK, GITHUB_REPORT, LEAKS, LEAKS_BODY, RECEIVED } from "./schemas.ts";

const TEXT = { type: "string" } as const;

const REPORT: Operation = {
  tags: ["More"],
  summary: "Report leaked keys",
  description:
    "A caller with a session or a token gets the state of each key of their teams; GitHub's secret scanning, known by its signature, learns which are keys at all. All other callers get the same answer, whatever they sent.",
  operationId: "postApiV1Leaks",
  parameters: [
    {
      ...{ name: "Github-Public-Key-Identifier", in: "header", required: false, schema: TEXT },
      description: "Of GitHub's reports: which of its keys has signed.",
    },
    {
      ...{ name: "Github-Public-Key-Signature", in: "header", required: false, schema: TEXT },
      description: "Of GitHub's reports: ECDSA P-256 with SHA-256 over the body, in base64.",
    },
  ],
  requestBody: {
    required: true,
    content: {
      "application/json": {
        schema: { anyOf: [LEAKS_BODY, GITHUB_REPORT] },
        example: { leaks: [{ key: "inf_..." }], dryRun: true },
      },
    },
  },
  responses: {
    200: {
      description: "What each is, in the order of the request.",
      content: { "application/json": { schema: { anyOf: [LEAKS, GITHUB_FEEDBACK] } } },
    },
    202: {
      description: "To unknown callers, whatever was sent.",
      content: { "application/json": { schema: RECEIVED } },
    },
    ...refusals([
      ...(["invalid_request", "forbidden", "forbidden_origin", "request_timeout", "payload_too_large"] as const),
      ...(["unsupported_media_type", "expectation_failed", "internal", "unavailable"] as const),
    ]),
  },
  security: [...managementSecurity("POST"), {}],
};

/** Returns the description of the route for reports. @param path path of the route */
export function leakPaths(path: string): Paths {
  return { [path]: { post: REPORT } };
}
