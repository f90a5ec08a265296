/** The verifier's listener for gRPC on a loopback port, over the index of a harness, and Envoy's messages. */
import { type ClientHttp2Session, connect } from "node:http2";
import type { AddressInfo } from "node:net";
import { createGrpcServer } from "../../../server/authz/grpc-server.ts";
import { bytesField, numberField, stringField } from "../../../server/authz/protobuf.ts";
import type { AuthzConfig } from "../../../server/context/config.ts";
import { type HarnessOptions, startHarness } from "../harness.ts";

export type GrpcVerifier = Awaited<ReturnType<typeof startGrpcVerifier>>;

export async function startGrpcVerifier(authz: Partial<AuthzConfig> = {}, options: HarnessOptions = {}) {
  const harness = await startHarness(options);
  const config = { tls: null, tokenFile: null, addressHeader: "x-real-ip", ...authz };
  const { server, sessions, end } = await createGrpcServer(harness.deps, config);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = connect(`${config.tls === null ? "http" : "https"}://127.0.0.1:${port}`, {
    rejectUnauthorized: false,
  });
  client.on("error", () => {});
  return {
    ...harness,
    authzPort: port,
    client,
    check: (question: CheckedQuestion, session = client) => sendMessage(session, framed(checkRequest(question))),
    async close(): Promise<void> {
      client.destroy();
      for (const session of sessions) session.destroy();
      server.close();
      await end();
      await harness.close();
    },
  };
}

/** A request, as Envoy shows it. */
export type CheckedQuestion = {
  readonly protects?: string | undefined;
  readonly method?: string;
  readonly path?: string;
  /** Headers in the map, whose values Envoy has joined. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Headers as they came. */
  readonly rawHeaders?: readonly (readonly [string, string])[];
  readonly rawBody?: string;
  readonly textBody?: string;
  /** MessageFields beside those of the request. */
  readonly more?: string;
};

const binary = (text: string) => Buffer.from(text).toString("latin1");

/** The message that asks about a request, as Envoy writes it: with fields that decide nothing too. */
export function checkRequest(question: CheckedQuestion): string {
  const { protects, method = "POST", path = "/v1/chat/completions", headers = [], rawHeaders = [] } = question;
  const address = bytesField(1, bytesField(1, stringField(2, "127.0.0.1") + numberField(3, 50_000)));
  const raw = rawHeaders.map(([name, value]) => bytesField(1, stringField(1, name) + bytesField(3, binary(value))));
  const http = [
    stringField(1, "1234"),
    stringField(2, method),
    ...[[":path", path] as const, ...headers].map(([name, value]) =>
      bytesField(3, stringField(1, name) + stringField(2, value)),
    ),
    stringField(4, path),
    stringField(5, "models.example"),
    numberField(9, 17),
    stringField(10, "HTTP/1.1"),
    ...(question.textBody === undefined ? [] : [stringField(11, question.textBody)]),
    ...(question.rawBody === undefined ? [] : [bytesField(12, binary(question.rawBody))]),
    ...(raw.length === 0 ? [] : [bytesField(13, raw.join(""))]),
  ].join("");
  const attributes = [
    bytesField(1, address),
    bytesField(4, bytesField(1, numberField(1, 1_790_000_000)) + bytesField(2, http)),
    ...(protects === undefined ? [] : [bytesField(10, stringField(1, "keyplane") + stringField(2, protects))]),
    bytesField(11, ""),
    question.more ?? "",
  ];
  return bytesField(1, attributes.join(""));
}

/** A message with the five bytes that gRPC puts before it. */
export function framed(message: string, flag = 0, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, Buffer.from(message, "latin1")]);
}

export type CheckAnswer = {
  readonly grpcStatus: string | undefined;
  /** Code of the answer's own status: 0 lets the request through. */
  readonly code: number | undefined;
  /** Headers that Envoy sets for the upstream, or in the answer to its caller. */
  readonly set: readonly (readonly [name: string, value: string, how: string])[];
  readonly removed: readonly string[];
  readonly removedParameters: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** Status and body of a refusal. */
  readonly status: number | undefined;
  readonly body: string;
};

/** Sends bytes as a question; says what came back. */
export function sendMessage(
  session: ClientHttp2Session,
  message: Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<CheckAnswer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/envoy.service.auth.v3.Authorization/Check",
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    const pieces: Buffer[] = [];
    let grpcStatus: string | undefined;
    const note = (of: Readonly<Record<string, unknown>>) => {
      if (of["grpc-status"] !== undefined) grpcStatus = String(of["grpc-status"]);
    };
    stream.on("response", note).on("trailers", note);
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.on("error", reject);
    stream.on("close", () => resolve({ grpcStatus, ...readAnswer(Buffer.concat(pieces).subarray(5)) }));
    stream.end(message);
  });
}

/** The bytes of each field of a message, by its number; a number as such. */
function fieldsOf(message: Buffer): { number: number; bytes: Buffer; value: number }[] {
  const found = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = message[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const isNumber = tag % 8 === 0;
    const value = varint();
    found.push({ number: tag >> 3, value, bytes: isNumber ? Buffer.alloc(0) : message.subarray(at, at + value) });
    if (!isNumber) at += value;
  }
  return found;
}

function readAnswer(message: Buffer): Omit<CheckAnswer, "grpcStatus"> {
  const all = (of: Buffer, number: number) => fieldsOf(of).filter((field) => field.number === number);
  const one = (of: Buffer, number: number) => all(of, number)[0];
  const text = (of: Buffer, number: number) => one(of, number)?.bytes.toString() ?? "";
  const NOTHING = Buffer.alloc(0);
  const denied = one(message, 2)?.bytes;
  const http = denied ?? one(message, 3)?.bytes ?? NOTHING;
  return {
    code: message.length === 0 ? undefined : (one(one(message, 1)?.bytes ?? NOTHING, 1)?.value ?? 0),
    set: all(http, 2).map(({ bytes }) => {
      const pair = one(bytes, 1)?.bytes ?? NOTHING;
      const how = `${one(bytes, 2)?.bytes.length}/${one(bytes, 3)?.value}/${one(bytes, 4)?.value}`;
      return [text(pair, 1), text(pair, 2), how] as const;
    }),
    removed: all(http, 5).map(({ bytes }) => bytes.toString()),
    removedParameters: all(http, 8).map(({ bytes }) => bytes.toString()),
    metadata: Object.fromEntries(
      all(one(message, 4)?.bytes ?? NOTHING, 1).map(({ bytes }) => [
        text(bytes, 1),
        text(one(bytes, 2)?.bytes ?? NOTHING, 3),
      ]),
    ),
    status: denied && one(one(denied, 1)?.bytes ?? NOTHING, 1)?.value,
    body: denied === undefined ? "" : text(denied, 3),
  };
}
