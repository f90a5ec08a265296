import { X509Certificate } from "node:crypto";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { Registry } from "@prometheus-io/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLog } from "../../../../runtime/log.ts";
import { AnswerBudget, answerLimits } from "../../../../server/http/answers/answer-budget.ts";
import { readCertificate, renewCertificate } from "../../../../server/http/connections/certificate.ts";
import { createListener } from "../../../../server/http/connections/listener.ts";
import { LingeringSockets } from "../../../../server/http/connections/refused-request.ts";
import { makeCertificate } from "../../../env/certificate.ts";
import { until } from "../../../env/until.ts";

type Pair = ReturnType<typeof makeCertificate>;

async function write(pair: Partial<Pair>, folder?: string) {
  const at = folder ?? (await mkdtemp(join(tmpdir(), "keyplane-certificate-")));
  if (folder === undefined) onTestFinished(() => rm(at, { recursive: true }));
  const files = { certFile: join(at, "tls.crt"), keyFile: join(at, "tls.key") };
  for (const [file, text] of [[files.certFile, pair.cert] as const, [files.keyFile, pair.key] as const]) {
    if (text === undefined) continue;
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }
  return { at, files };
}

/** A listener that serves what the files hold, and what is known of it from outside. */
async function serve(pair: Pair) {
  const { at, files } = await write(pair);
  const lines: string[] = [];
  const registry = new Registry();
  const certificate = await readCertificate(files);
  const server = createListener(
    (_request, response) => response.end("served"),
    certificate,
    new LingeringSockets(1),
    new AnswerBudget(answerLimits(1)),
  );
  const log = createLog("info", { write: (line) => lines.push(line) });
  const end = renewCertificate(server, certificate, { log, registry });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await end();
  });
  const { port } = server.address() as AddressInfo;
  return { replace: (next: Partial<Pair>) => write(next, at), lines, registry, port, ...files };
}

/** Connects, and says whose certificate it was shown. */
async function open(port: number) {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
  return { socket, fingerprint: socket.getPeerCertificate().fingerprint256 };
}

const fingerprint = ({ cert }: Pair) => new X509Certificate(cert).fingerprint256;

const [first, second] = [makeCertificate(), makeCertificate()];

describe("a listener's certificate", () => {
  it("is the renewed one for new connections, while open ones go on", async () => {
    const { port, replace, registry } = await serve(first);
    const { socket, fingerprint: shown } = await open(port);
    expect(shown).toBe(fingerprint(first));
    await replace(second);
    await until("the new one is served", async () => (await open(port)).fingerprint === fingerprint(second));
    socket.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    const answer = await socket.setEncoding("utf8").toArray();
    expect(answer.join("")).toMatch(/^HTTP\/1.1 200 /);
    const expiry = new X509Certificate(second.cert).validToDate.getTime() / 1000;
    expect(await registry.metrics()).toContain(`keyplane_tls_certificate_expiry_timestamp_seconds ${expiry}\n`);
  });

  it("is the previous one while the files hold no pair, which the log says", async () => {
    const { port, replace, lines, keyFile } = await serve(first);
    await replace({ cert: second.cert });
    await until("it is logged", () => lines.length > 0);
    expect((await open(port)).fingerprint).toBe(fingerprint(first));
    expect(lines).toEqual([expect.stringContaining(`--tls-key: ${keyFile} is not the key of the first certificate`)]);
    await replace({ key: second.key });
    await until("the new one is served", async () => (await open(port)).fingerprint === fingerprint(second));
    expect(lines).toEqual([lines[0], expect.stringContaining("a new certificate is served")]);
    expect(lines.join("")).not.toContain("PRIVATE");
  });

  it.each([
    ["is not there", {}, "--tls-cert: FOLDER/tls.crt cannot be read (ENOENT)"],
    ["is empty", { cert: "", key: first.key }, "--tls-cert: FOLDER/tls.crt must hold a certificate chain in PEM"],
    ["has a text for its key", { cert: first.cert, key: "x" }, "--tls-key: FOLDER/tls.key must hold a private key"],
    ["has another's key", { cert: first.cert, key: second.key }, "--tls-key: FOLDER/tls.key is not the key of"],
  ])("that %s is refused by the name of its flag", async (_case, pair: Partial<Pair>, message) => {
    const { at, files } = await write(pair);
    await expect(readCertificate(files)).rejects.toThrow(message.replace("FOLDER", at));
  });
});
