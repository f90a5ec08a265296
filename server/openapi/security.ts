import { cookieName } from "../auth/session/cookies.ts";
import type { ServerConfig } from "../context/config.ts";
import { SAFE_METHODS } from "../http/safe-methods.ts";
import type { Operation, SecurityScheme } from "./format.ts";

/** Returns the security schemes, with the carriers of a key in the order in which they are checked. */
export function securitySchemes(config: Pick<ServerConfig, "vendorHeader" | "publicUrl" | "tls">) {
  return {
    vendorHeader: {
      ...{ type: "apiKey", in: "header", name: config.vendorHeader },
      description: "An API key, as the vendor's SDKs send it. Looked at first.",
    },
    queryKey: {
      ...{ type: "apiKey", in: "query", name: "key" },
      description: "An API key. Looked at second; an address is written down in more places than a header.",
    },
    bearerKey: { type: "http", scheme: "bearer", description: "An API key. Looked at third." },
    apiKeyHeader: { type: "apiKey", in: "header", name: "X-API-Key", description: "An API key. Looked at last." },
    managementToken: {
      ...{ type: "http", scheme: "bearer" },
      description: "The installation's token, or a JWT of a configured issuer. No API key is one.",
    },
    session: {
      ...{ type: "apiKey", in: "cookie", name: cookieName("session", config) },
      description: "The session of a person who is signed in to the console.",
    },
    csrfToken: {
      ...{ type: "apiKey", in: "header", name: "x-csrf-token" },
      description:
        "With a session, for whatever changes something: the token of the session's own pages, and their Origin.",
    },
  } as const satisfies Record<string, SecurityScheme>;
}

/** Security of an operation that a key opens: any of its carriers. */
export const KEY_SECURITY: Operation["security"] = [
  { bearerKey: [] },
  { apiKeyHeader: [] },
  { vendorHeader: [] },
  { queryKey: [] },
];

/** Returns the security of an operation of the management API. */
export function managementSecurity(method: string): Operation["security"] {
  return [{ managementToken: [] }, SAFE_METHODS.has(method) ? { session: [] } : { session: [], csrfToken: [] }];
}
