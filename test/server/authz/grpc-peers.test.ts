/** Who may ask over gRPC. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type ClientHttp2Session, connect, type SecureClientSessionOptions } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeCertificate } from "../../env/certificate.ts";
import { checkRequest, framed, type GrpcVerifier, sendMessage, startGrpcVerifier } from "./grpc-harness.ts";

const TOKEN = "q7Vn0o2sXc9kLwP4tRz1mHyB8dFgJ6uE3aN5iKxQ0vM=";
const TOKEN_HEADER = "x-keyplane-authz-token";
const OPENAI = { name: "o", dialect: "openai", baseUrl: "http://127.0.0.1:1", credential: "sk" } as const;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyplane-grpc-"));
  await writeFile(join(folder, "token"), TOKEN, { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true }));

/** Opens a connection of its own; closed at the test's end. */
function open(
  verifier: GrpcVerifier,
  ends: (() => unknown)[],
  options?: SecureClientSessionOptions,
): ClientHttp2Session {
  const scheme = options === undefined ? "http" : "https";
  const session = connect(`${scheme}://127.0.0.1:${verifier.authzPort}`, options);
  session.on("error", () => {});
  ends.push(() => session.destroy());
  return session;
}

const questionOf = (verifier: GrpcVerifier) =>
  framed(checkRequest({ protects: "/g/open", headers: [["authorization", `Bearer ${verifier.addKey()}`]] }));

test("b400: without its token a program learns nothing of a key, and its connection ends", async (context) => {
  const ends: (() => unknown)[] = [];
  context.onTestFinished(async () => {
    for (const end of ends.toReversed()) await end();
  });
  const verifier = await startGrpcVerifier({ tokenFile: join(folder, "token") });
  ends.push(() => verifier.close());
  verifier.addGateway({ publicId: "open", upstreams: [OPENAI] });
  const question = questionOf(verifier);
  expect(await sendMessage(verifier.client, question, { [TOKEN_HEADER]: TOKEN })).toMatchObject({ code: 0 });
  for (const headers of [{}, { [TOKEN_HEADER]: "wrong" }, { authorization: `Bearer ${TOKEN}` }]) {
    const session = open(verifier, ends);
    const closed = new Promise((resolve) => session.once("close", resolve));
    const refused = await sendMessage(session, question, headers);
    expect(refused).toMatchObject({ code: 7, status: 403, grpcStatus: "0" });
    expect(refused.body).toContain("--authz-token-file");
    await closed;
  }
  expect(verifier.refused.map(({ cause, keyId }) => [cause, keyId])).toEqual(
    Array.from({ length: 3 }, () => ["unknown_peer", null]),
  );
  // A body without an end, behind a refusal, is not read.
  const session = open(verifier, ends);
  const closed = new Promise((resolve) => session.once("close", resolve));
  const stream = session.request({ ":method": "POST", ":path": "/envoy.service.auth.v3.Authorization/Check" });
  stream.on("error", () => {});
  stream.resume().write(question);
  await closed;
});

test("b400: a program without a certificate of the authorities does not get as far as a question", async (context) => {
  const ends: (() => unknown)[] = [];
  context.onTestFinished(async () => {
    for (const end of ends.toReversed()) await end();
  });
  const [own, proxy, stranger] = [makeCertificate(), makeCertificate(), makeCertificate()];
  const files = {
    certFile: join(folder, "tls.crt"),
    keyFile: join(folder, "tls.key"),
    clientCaFile: join(folder, "ca"),
  };
  await writeFile(files.certFile, own.cert);
  await writeFile(files.keyFile, own.key);
  await writeFile(files.clientCaFile, proxy.cert);
  const verifier = await startGrpcVerifier({ tls: files });
  ends.push(() => verifier.close());
  verifier.addGateway({ publicId: "open", upstreams: [OPENAI] });
  const question = questionOf(verifier);
  const trusted = { ca: own.cert, checkServerIdentity: () => undefined };
  expect(await sendMessage(open(verifier, ends, { ...trusted, ...proxy }), question)).toMatchObject({ code: 0 });
  for (const options of [trusted, { ...trusted, ...stranger }]) {
    const answer = await sendMessage(open(verifier, ends, options), question).catch(() => undefined);
    expect(answer?.code).toBeUndefined();
  }
});
