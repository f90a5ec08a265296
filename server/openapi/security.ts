import { cookieName } from "../auth/session/cookies.ts";
import type { ServerConfig } from "../config.ts";
import { SAFE_METHODS } from "../http/errors.ts";
import type { Operation, SecurityScheme } from "./format.ts";

const KEY =
  "An API key. Where several carriers hold one, the first of vendorHeader, queryKey, bearerKey and apiKeyHeader applies.";

export function securitySchemes(config: Pick<ServerConfig, "vendorHeader" | "publicUrl" | "tls">) {
  return {
    bearerKey: { type: "http", scheme: "bearer", description: KEY },
    apiKeyHeader: { type: "apiKey", in: "header", name: "X-API-Key", description: KEY },
    vendorHeader: { type: "apiKey", in: "header", name: config.vendorHeader, description: KEY },
    queryKey: {
      ...{ type: "apiKey", in: "query", name: "key" },
      description: `${KEY} An address is written down in more places than a header: prefer a header.`,
    },
    managementToken: {
      ...{ type: "http", scheme: "bearer" },
      description: "The installation's token, or a JWT of a configured issuer. No API key is one.",
    },
    session: {
      ...{ type: "apiKey", in: "cookie", name: cookieName("session", config) },
      description: "The session of somebody who is signed in to the console.",
    },
    csrfToken: {
      ...{ type: "apiKey", in: "header", name: "x-csrf-token" },
      description:
        "With a session, for whatever changes something: the token of the session's own pages, and their Origin.",
    },
  } as const satisfies Record<string, SecurityScheme>;
}

/** What opens an operation for a key: any of its carriers. */
export const KEY_SECURITY: Operation["security"] = [
  { bearerKey: [] },
  { apiKeyHeader: [] },
  { vendorHeader: [] },
  { queryKey: [] },
];

/** What opens an operation of the management API. */
export function managementSecurity(method: string): Operation["security"] {
  return [{ managementToken: [] }, SAFE_METHODS.has(method) ? { session: [] } : { session: [], csrfToken: [] }];
}
