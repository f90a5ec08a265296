/** Checks of the certificate that clients see, from its files or from the server: will clients accept it? */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { connect } from "node:tls";
import { DAY_MS } from "../../domain/duration.ts";
import { connectionErrorText, errorText } from "../../domain/error-text.ts";
import { rfc3339 } from "../../domain/rfc3339.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import { TIMEOUT_MS } from "./readiness.ts";

/** Remaining time below which a certificate is reported. Milliseconds. Tools that renew certificates do so earlier. */
const SOON_MS = 14 * DAY_MS;

/** Certificate settings of `server` and `up`. */
export type CertificateFiles = {
  readonly cert: string;
  readonly key: string;
  /** URL at which clients reach the server; undefined if it is not given. */
  readonly publicUrl: string | undefined;
};

/**
 * Checks the certificate chain and its private key.
 *
 * @param now milliseconds since the epoch
 */
export async function checkCertificateFiles(files: CertificateFiles, now: number): Promise<Finding[]> {
  const chain = await read("--tls-cert", files.cert, (text) => {
    return (text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [text]).map(
      (pem) => new X509Certificate(pem),
    );
  });
  const key = await read("--tls-key", files.key, createPrivateKey);
  const faults = [chain, key].filter((one) => "severity" in one);
  if ("severity" in chain || "severity" in key) return faults;
  const [leaf] = chain;
  if (leaf?.checkPrivateKey(key) === false) {
    const message = `the key ${files.key} is not that of the certificate ${files.cert}`;
    return [wrong("certificate", message, "give the --tls-key that the certificate was made for")];
  }
  const host = files.publicUrl === undefined ? undefined : new URL(files.publicUrl).hostname;
  return chain.flatMap((one, index) => judge(files.cert, one, index === 0 ? host : undefined, now));
}

async function read<T>(flag: string, file: string, parse: (text: string) => T): Promise<T | Finding> {
  try {
    return parse(await readFile(file, "utf8"));
  } catch (error) {
    const step = `give ${flag} a file in PEM that this user may read`;
    // What a parser says of a key may quote it.
    const isSystems = error instanceof Error && "syscall" in error;
    const why = isSystems ? errorText(error) : "it is not in PEM";
    return wrong("certificate", `${flag} ${file} cannot be used: ${why}`, step);
  }
}

/**
 * Checks the certificate that a server presents to its clients.
 *
 * @param url https URL of the server
 * @param now milliseconds since the epoch
 */
export async function checkServedCertificate(url: URL, now: number): Promise<Finding[]> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const name = isIP(host) === 0 ? { servername: host } : {};
  // Whatever it is: it is looked at here, and nothing is sent.
  const socket = connect({
    host,
    port: Number(url.port || 443),
    rejectUnauthorized: false,
    timeout: TIMEOUT_MS,
    ...name,
  });
  socket.on("timeout", () => socket.destroy(new Error("no answer in time")));
  try {
    await once(socket, "secureConnect");
    const certificate = socket.getPeerX509Certificate();
    if (certificate === undefined) throw new Error("it shows none");
    const found = judge(url.host, certificate, host, now);
    const why = socket.authorizationError;
    if (why === undefined || why === null || found.some(({ severity }) => severity === "error")) return found;
    const message = `the certificate of ${url.host} is not trusted here: ${String(why)}`;
    return [
      ...found,
      note("certificate", message, "give its authority to clients; to this one by NODE_EXTRA_CA_CERTS"),
    ];
  } catch (error) {
    const message = `the certificate of ${url.host} cannot be seen: ${connectionErrorText(error)}`;
    return [wrong("certificate", message, "see that --server is right, and that TLS is spoken there")];
  } finally {
    socket.destroy();
  }
}

/**
 * Judges one certificate: its validity period and its names.
 *
 * @param where file or host that the certificate is from
 * @param host host name that clients use; undefined if names are not to be checked
 */
function judge(where: string, certificate: X509Certificate, host: string | undefined, now: number): Finding[] {
  const findings: Finding[] = [];
  const [begins, ends] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  const step = "renew it: servers read its files again as they change";
  if (now >= ends) findings.push(wrong("certificate", `the certificate of ${where} has expired on ${day(ends)}`, step));
  else if (now < begins) {
    findings.push(
      wrong("certificate", `the certificate of ${where} is valid only from ${day(begins)}`, "see the clock"),
    );
  } else if (ends - now < SOON_MS) {
    findings.push(note("certificate", `the certificate of ${where} expires on ${day(ends)}`, step));
  }
  if (host !== undefined && !names(certificate, host)) {
    const message = `the certificate of ${where} does not name ${host} (${certificate.subjectAltName ?? "no name"})`;
    findings.push(wrong("certificate", message, "have one made for the host of --public-url"));
  }
  return findings.length > 0
    ? findings
    : [ok("certificate", `the certificate of ${where} is valid until ${day(ends)}`)];
}

function names(certificate: X509Certificate, host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "");
  return (isIP(address) === 0 ? certificate.checkHost(address) : certificate.checkIP(address)) !== undefined;
}

const day = (at: number): string => rfc3339(at).slice(0, 10);
