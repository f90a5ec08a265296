import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkCertificateFiles, checkServedCertificate } from "../../../cli/doctor/certificate.ts";
import { makeCertificate } from "../../env/certificate.ts";
import { keyplane } from "../up.ts";

const DAY = 24 * 3_600_000;
const folder = mkdtempSync(join(tmpdir(), "keyplane-certificate-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
function write(text: string): string {
  const file = join(folder, `${++count}.pem`);
  writeFileSync(file, text);
  return file;
}
const [good, other] = [makeCertificate(90 * DAY), makeCertificate(90 * DAY)];
const files = { cert: write(good.cert), key: write(good.key), publicUrl: "https://127.0.0.1:8443" };

/** What is found of files, in one line each. */
async function found(given: Partial<typeof files>, now = Date.now()): Promise<string[]> {
  const findings = await checkCertificateFiles({ ...files, ...given }, now);
  expect(findings.every(({ name }) => name === "certificate")).toBe(true);
  return findings.map(({ severity, message }) => `${severity} ${message}`);
}

test("doctor takes a certificate that names the public URL's host, with its key", async () => {
  expect(await found({})).toEqual([expect.stringMatching(/^ok the certificate of \S+ is valid until 20/)]);
});

test("doctor finds a certificate that has expired, or will soon, or is not valid yet", async () => {
  expect(await found({}, Date.now() + 91 * DAY)).toEqual([expect.stringMatching(/^error .* has expired on 20/)]);
  expect(await found({}, Date.now() + 80 * DAY)).toEqual([expect.stringMatching(/^note .* expires on 20/)]);
  expect(await found({}, Date.now() - DAY)).toEqual([expect.stringMatching(/^error .* is valid only from 20/)]);
  const chain = write(good.cert + makeCertificate(1_000).cert);
  expect(await found({ cert: chain }, Date.now() + DAY)).toEqual([
    expect.stringMatching(/^ok/),
    expect.stringMatching(/^error .* has expired on 20/),
  ]);
});

test("doctor finds a certificate that does not name the public URL's host", async () => {
  expect(await found({ publicUrl: "https://keys.example.com" })).toEqual([
    expect.stringMatching(
      /^error the certificate of \S+ does not name keys\.example\.com \(IP Address:127\.0\.0\.1\)$/,
    ),
  ]);
});

test("doctor finds a key that is another certificate's, and files that cannot be read or are in no PEM", async () => {
  const key = write(other.key);
  expect(await found({ key })).toEqual([`error the key ${key} is not that of the certificate ${files.cert}`]);
  const gone = join(folder, "gone.pem");
  const nonsense = write("-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n");
  expect(await found({ cert: gone, key: nonsense })).toEqual([
    expect.stringMatching(/^error --tls-cert \S+ cannot be used: ENOENT: no such file or directory/),
    `error --tls-key ${nonsense} cannot be used: it is not in PEM`,
  ]);
});

test("doctor sees the certificate that a server shows", async (context) => {
  const server = createServer(makeCertificate(DAY));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const look = async (now: number) =>
    (await checkServedCertificate(new URL(`https://127.0.0.1:${port}`), now)).map(({ severity }) => severity);
  expect(await look(Date.now())).toEqual(["note", "note"]);
  expect(await look(Date.now() + 2 * DAY)).toEqual(["error"]);
});

test("doctor takes the key and the public URL from their variables where a flag names the certificate", async () => {
  const env = { KEYPLANE_TLS_KEY: files.key, KEYPLANE_PUBLIC_URL: "https://elsewhere.example.com" };
  const { code, out } = await keyplane(["doctor", "--tls-cert", files.cert], env);
  expect([code, out]).toEqual([1, expect.stringContaining("does not name elsewhere.example.com")]);
});
