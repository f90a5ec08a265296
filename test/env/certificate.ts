import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

const HOUR = 3_600_000;
/** Object identifiers, as DER has them. */
const COMMON_NAME = Buffer.from("0603550403", "hex");
const SUBJECT_ALT_NAME = Buffer.from("0603551d11", "hex");
const ECDSA_WITH_SHA256 = Buffer.from("06082a8648ce3d040302", "hex");

/**
 * Makes a certificate that is its own authority, and its key; both in PEM.
 *
 * @param endsIn milliseconds; a day where it is left out
 * @param hosts names of the host, and addresses of IPv4; 127.0.0.1 where there are none
 */
export function makeCertificate(
  endsIn = 24 * HOUR,
  ...hosts: readonly string[]
): { readonly cert: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from("Keyplane tests")))));
  const address = (host: string) => der(0x87, Buffer.from(host.split(".").map(Number)));
  // An address that is given is a name too: Node looks for one there that is written in another form.
  const given = hosts.flatMap((host) => [...(isIPv4(host) ? [address(host)] : []), der(0x82, Buffer.from(host))]);
  const names = hosts.length === 0 ? [address("127.0.0.1")] : given;
  const algorithm = sequence(ECDSA_WITH_SHA256);
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1, ...randomBytes(8)])),
    algorithm,
    issuer,
    sequence(time(Date.now() - HOUR), time(Date.now() + endsIn)),
    issuer,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(SUBJECT_ALT_NAME, der(0x04, sequence(...names))))),
  );
  const signature = sign("sha256", content, privateKey);
  const cert = sequence(content, algorithm, der(0x03, Buffer.from([0]), signature));
  const lines = cert.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(0x30, ...parts);
}

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function time(at: number): Buffer {
  return der(0x17, Buffer.from(`${new Date(at).toISOString().slice(2, 19).replace(/[-T:]/g, "")}Z`));
}
