/** Certificate of `--tls-cert` and `--tls-key`, which is renewed while the server runs. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Server } from "node:http";
import { Server as TlsServer } from "node:https";
import { createSecureContext } from "node:tls";
import { Gauge, type Registry } from "@prometheus-io/client";
import { rfc3339 } from "../../../domain/rfc3339.ts";
import type { Logger } from "../../../runtime/log.ts";
import { startPeriodically } from "../../../runtime/periodic.ts";
import { ConfigError } from "../../../runtime/settings.ts";
import type { ServerConfig } from "../../context/config.ts";
import { readConfiguredFile } from "../../context/configured-file.ts";
import type { TlsFiles } from "./listener.ts";

type Files = NonNullable<ServerConfig["tls"]>;
type Certificate = TlsFiles & {
  /** Files that it was read from. */
  readonly files: Files;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
};

/** Milliseconds between two reads of the files. A renewed certificate is served within one and a half of them. */
const READ_MS = 1_000;

/**
 * Reads a certificate chain and its key.
 *
 * @throws ConfigError if a file cannot be read or holds something else, or if the key is another certificate's
 */
export async function readCertificate(files: Files): Promise<Certificate> {
  const { certFile, keyFile } = files;
  // One after the other: if neither can be read, the fault always names the same file.
  const cert = await readConfiguredFile("--tls-cert", certFile);
  const key = await readConfiguredFile("--tls-key", keyFile);
  const leaf = parse(`--tls-cert: ${certFile} must hold a certificate chain in PEM`, () => new X509Certificate(cert));
  const secret = parse(`--tls-key: ${keyFile} must hold a private key in PEM, without a passphrase`, () =>
    createPrivateKey(key),
  );
  if (!leaf.checkPrivateKey(secret)) {
    throw new ConfigError([`--tls-key: ${keyFile} is not the key of the first certificate in ${certFile}`]);
  }
  parse(`--tls-cert: ${certFile} holds a certificate that cannot be used`, () => createSecureContext({ cert, key }));
  return { files, cert, key, expiresAt: leaf.validToDate.getTime() };
}

/**
 * Serves a replaced certificate to new connections; open connections go on. While the files hold no valid pair, the
 * last valid pair is served. The log reports a fault once it is read twice in a row: files that are replaced one after
 * the other hold no pair for a moment.
 *
 * @param first certificate that the server was made with
 * @returns ends the renewal
 */
export function renewCertificate(
  server: Server,
  first: Certificate,
  { log, registry }: { readonly log: Logger; readonly registry: Registry },
): () => Promise<void> {
  if (!(server instanceof TlsServer)) throw new Error("a listener with a certificate speaks TLS");
  let served = first;
  let fault: string | undefined;
  let loggedFault: string | undefined;
  observeCertificate(registry, () => served);
  return startPeriodically({
    intervalMs: READ_MS,
    isSpread: true,
    onFailure: (error) => log.warn({ error }, "could not check the certificate; it is checked again shortly"),
    async run() {
      const now = await readCertificate(first.files).catch((error: unknown) => {
        if (error instanceof ConfigError) return error.faults.join("; ");
        throw error;
      });
      if (typeof now === "string") {
        if (now === fault && now !== loggedFault) log.error({}, `the previous certificate is still served: ${now}`);
        if (now === fault) loggedFault = now;
        fault = now;
        return;
      }
      fault = loggedFault = undefined;
      if (now.cert.equals(served.cert) && now.key.equals(served.key)) return;
      server.setSecureContext(now);
      served = now;
      const end = rfc3339(now.expiresAt);
      log.info({}, `a new certificate is served, from ${first.files.certFile}: it ends ${end}`);
    },
  });
}

/** Registers the metric of the time at which the served certificate ends. */
export function observeCertificate(registry: Registry, served: () => Pick<Certificate, "expiresAt">): void {
  new Gauge({
    name: "keyplane_tls_certificate_expiry_timestamp_seconds",
    help: "When the certificate expires, in seconds since the epoch; only with TLS",
    registers: [registry],
    aggregator: "min",
    collect() {
      this.set(served().expiresAt / 1000);
    },
  });
}

/** Parses a file with a library. Replaces what that throws by `fault`, which quotes nothing of the file. */
function parse<T>(fault: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new ConfigError([fault]);
  }
}
