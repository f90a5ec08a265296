import type { Operation, Paths } from "../openapi/format.ts";
import { refusals } from "../openapi/refusals.ts";
import { managementSecurity } from "../openapi/security.ts";
import { GITHUB_FEEDBACK, GITHUB_REPORT, LEAKS, LEAKS_BODY, RECEIVED } from "./schemas.ts";

const TEXT = { type: "string" } as const;

const REPORT: Operation = {
  tags: ["More"],
  summary: "Report leaked keys",
  description:
    "Whoever has a session or a token hears what each is of their teams' keys, and GitHub's secret scanning, by its signature, which are keys at all. Anybody else hears one and the same, whatever they sent.",
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
      description: "To whoever is not known, whatever was sent.",
      content: { "application/json": { schema: RECEIVED } },
    },
    ...refusals([
      ...(["invalid_request", "forbidden", "forbidden_origin", "payload_too_large"] as const),
      ...(["unsupported_media_type", "expectation_failed", "internal", "unavailable"] as const),
    ]),
  },
  security: [...managementSecurity("POST"), {}],
};

/** @param path where reports are taken */
export function leakPaths(path: string): Paths {
  return { [path]: { post: REPORT } };
}
