import type { Logger } from "../runtime/log.ts";
import type { ServerConfig } from "../server/context/config.ts";
import { isTrustworthyUrl } from "../server/context/trustworthy-url.ts";
import { isLoopback } from "../server/http/connections/all-addresses.ts";

/** Warns of settings that do not do what they may be taken to do. */
export function warnOfSettings(
  { production, placeholders, publicUrl, host, oidc, authz }: ServerConfig,
  log: Logger,
): void {
  if (production && placeholders.length > 0) {
    log.warn({ count: placeholders.length }, "PLATFORM_API_KEYS is ignored in production: its keys get 401");
  }
  if (publicUrl === null && !isLoopback(host)) {
    log.warn(
      {},
      "MCP and the console answer this machine alone, and 403 to others, until --public-url says where clients reach it",
    );
  }
  if (publicUrl === null && oidc !== null) {
    log.warn({}, "the memory over MCP refuses the issuer's tokens until --public-url says which audience they need");
  }
  if (authz !== null && authz.tls === null && !isLoopback(authz.host)) {
    log.warn({}, "proxies ask without TLS: an eavesdropper on the network sees keys until --authz-tls-cert is given");
  }
  if (publicUrl !== null && !isTrustworthyUrl(publicUrl.origin)) {
    log.warn({}, "--public-url is http: an eavesdropper on the network can take over sessions of the console");
  }
}
