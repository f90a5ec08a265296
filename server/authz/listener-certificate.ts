/** The certificate of the verifier's listeners, and the certificates that they ask proxies for. */
import type { TLSSocket, Server as TlsServer } from "node:tls";
import type { Registry } from "@prometheus-io/client";
import type { Logger } from "../../runtime/log.ts";
import type { AuthzConfig } from "../context/config.ts";
import { AUTHZ_LISTENER, readCertificate, renewCertificate } from "../http/connections/certificate.ts";

type ListenerCertificate = Awaited<ReturnType<typeof readListenerCertificate>>;

/** Reads the certificate, and the authorities of proxies. @throws ConfigError if they cannot be had */
export async function readListenerCertificate(tls: NonNullable<AuthzConfig["tls"]>) {
  const certificate = await readCertificate(tls, AUTHZ_LISTENER);
  const asksForOne = certificate.ca !== undefined;
  return { ...certificate, requestCert: asksForOne, rejectUnauthorized: asksForOne };
}

/**
 * Logs the certificates of proxies that are refused, and serves a renewed certificate.
 *
 * @returns ends the renewal
 */
export function watchCertificate(
  server: TlsServer,
  certificate: ListenerCertificate,
  { log, metrics }: { readonly log: Logger; readonly metrics: { readonly registry: Registry } },
): () => Promise<void> {
  server.on("tlsClientError", (_error, { authorizationError }: TLSSocket) => {
    // Null if something else than a certificate has ended the handshake. The connection's address is gone.
    if (authorizationError === null) return;
    log.warn({ cause: String(authorizationError) }, "the verifier refused a client certificate, or there was none");
  });
  return renewCertificate(server, certificate, { log, registry: metrics.registry });
}
