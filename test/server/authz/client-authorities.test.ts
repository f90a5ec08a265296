import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { expect, test } from "vitest";
import { makeCertificate } from "../../env/certificate.ts";
import { until } from "../../env/until.ts";
import { requestHead } from "../raw-http.ts";
import { startVerifier } from "./verifier-harness.ts";

test("b385: a connection that was opened under authorities of before takes no question", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-authz-"));
  context.onTestFinished(() => rm(folder, { recursive: true }));
  const [own, before, after] = [makeCertificate(), makeCertificate(), makeCertificate()];
  const [certFile, keyFile, clientCaFile] = [join(folder, "crt"), join(folder, "key"), join(folder, "ca")];
  const write = (file: string, text: string) => writeFile(file, text);
  await Promise.all([write(certFile, own.cert), write(keyFile, own.key), write(clientCaFile, before.cert)]);
  const verifier = await startVerifier({ tls: { certFile, keyFile, clientCaFile } });
  context.onTestFinished(() => verifier.close());
  const head = requestHead("GET /authz/envoy/scope/memory:read/ HTTP/1.1", [
    `Authorization: Bearer ${verifier.addKey()}`,
  ]);
  const options = { port: verifier.authzPort, host: "127.0.0.1" };
  const open = (as: typeof own, socket = connectTcp(options)) =>
    connect({ socket, host: options.host, ca: own.cert, cert: as.cert, key: as.key }).on("error", () => {});
  /** True if a question is answered; false if its connection ends, or stays silent, instead. */
  const isAnswered = (socket: TLSSocket) =>
    new Promise<boolean>((resolve) => {
      socket.once("data", (answer) => resolve(answer.toString().startsWith("HTTP/1.1 200 ")));
      socket.once("close", () => resolve(false)).setTimeout(2_000, () => resolve(false));
      if (socket.destroyed) resolve(false);
      else socket.write(head);
    });
  const stranger = open(makeCertificate());
  expect(await isAnswered(stranger)).toBe(false);
  await until("the refusal is logged", () => verifier.lines.some((line) => line.includes("client certificate")));
  const [line = ""] = verifier.lines.filter((each) => each.includes("client certificate"));
  expect(JSON.parse(line)).toMatchObject({ level: 40, cause: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  const [used, begun] = [open(before), connectTcp(options)];
  expect(await isAnswered(used)).toBe(true);
  await write(clientCaFile, after.cert);
  await until("the replaced authority's certificates are taken", () => isAnswered(open(after)));
  expect([await isAnswered(used), !begun.destroyed && (await isAnswered(open(before, begun)))]).toEqual([false, false]);
  expect(await isAnswered(open(before))).toBe(false);
});
