/** Certificates of the listeners, which are renewed while the server runs. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Server } from "node:net";
import { createSecureContext, Server as TlsServer } from "node:tls";
import { Gauge, type Registry } from "@prometheus-io/client";
import { rfc3339 } from "../../../domain/rfc3339.ts";
import type { Logger } from "../../../runtime/log.ts";
import { startPeriodically } from "../../../runtime/periodic.ts";
import { ConfigError } from "../../../runtime/settings.ts";
import { readConfiguredFile } from "../../context/configured-file.ts";
import type { TlsFiles } from "./listener.ts";
import { trackConnections } from "./open-connections.ts";

/** Files of a certificate chain and its key, in PEM. */
type Files = {
  readonly certFile: string;
  readonly keyFile: string;
  /** File of the authorities that clients' certificates are verified by; null or left out if clients need none. */
  readonly clientCaFile?: string | null;
};

/** Listener that has a certificate, by the flags of its files. */
type CertificateOwner = {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string;
};

const PUBLIC_LISTENER: CertificateOwner = {
  cert: "--tls-cert",
  key: "--tls-key",
  clientCa: "",
};
export const AUTHZ_LISTENER: CertificateOwner = {
  cert: "--authz-tls-cert",
  key: "--authz-tls-key",
  clientCa: "--authz-client-ca",
};

type Certificate = TlsFiles & {
  /** Files that it was read from. */
  readonly files: Files;
  readonly owner: CertificateOwner;
  /** Authorities of clients, in PEM; left out if clients need no certificate. */
  readonly ca?: Buffer;
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
export async function readCertificate(files: Files, owner = PUBLIC_LISTENER): Promise<Certificate> {
  const { certFile, keyFile, clientCaFile = null } = files;
  // One after the other: if neither can be read, the fault always names the same file.
  const cert = await readConfiguredFile(owner.cert, certFile);
  const key = await readConfiguredFile(owner.key, keyFile);
  const ca = clientCaFile === null ? undefined : await readConfiguredFile(owner.clientCa, clientCaFile);
  const leaf = parse(
    `${owner.cert}: ${certFile} must hold a certificate chain in PEM`,
    () => new X509Certificate(cert),
  );
  const secret = parse(`${owner.key}: ${keyFile} must hold a private key in PEM, without a passphrase`, () =>
    createPrivateKey(key),
  );
  if (!leaf.checkPrivateKey(secret)) {
    throw new ConfigError([`${owner.key}: ${keyFile} is not the key of the first certificate in ${certFile}`]);
  }
  parse(`${owner.cert}: ${certFile} holds a certificate that cannot be used`, () => createSecureContext({ cert, key }));
  if (ca !== undefined) {
    parse(`${owner.clientCa}: ${clientCaFile} must hold the certificates of authorities in PEM`, () => {
      new X509Certificate(ca);
      createSecureContext({ ca });
    });
  }
  return { files, owner, cert, key, ...(ca && { ca }), expiresAt: leaf.validToDate.getTime() };
}

/**
 * Serves a replaced certificate to new connections; open connections go on, unless the authorities of clients are
 * replaced too: a client of the old ones may be what they were replaced for. While the files hold no valid pair, the
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
  const closeAll = first.ca === undefined ? undefined : trackConnections(server);
  observeCertificate(registry, () => served);
  return startPeriodically({
    intervalMs: READ_MS,
    isSpread: true,
    onFailure: (error) => log.warn({ error }, "could not check the certificate; it is checked again shortly"),
    async run() {
      const now = await readCertificate(first.files, first.owner).catch((error: unknown) => {
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
      const isSame = now.cert.equals(served.cert) && now.key.equals(served.key);
      const haveSameClients = now.ca === undefined || served.ca?.equals(now.ca) === true;
      if (isSame && haveSameClients) return;
      server.setSecureContext(now);
      served = now;
      if (!haveSameClients) closeAll?.();
      const end = rfc3339(now.expiresAt);
      log.info({}, `a new certificate is served, from ${first.files.certFile}: it ends ${end}`);
    },
  });
}

type Served = () => Pick<Certificate, "expiresAt">;

/** Certificates whose end the metric of a registry shows. */
const observed = new WeakMap<Registry, Served[]>();

/** Registers the metric of the time at which the served certificate ends: of several listeners', the first that ends. */
export function observeCertificate(registry: Registry, served: Served): void {
  const known = observed.get(registry);
  if (known !== undefined) {
    known.push(served);
    return;
  }
  const all = [served];
  observed.set(registry, all);
  new Gauge({
    name: "keyplane_tls_certificate_expiry_timestamp_seconds",
    help: "When the certificate expires, in seconds since the epoch; only with TLS",
    registers: [registry],
    aggregator: "min",
    collect() {
      this.set(Math.min(...all.map((one) => one().expiresAt)) / 1000);
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
