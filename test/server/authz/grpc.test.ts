import { connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { bytesField, numberField, stringField } from "../../../server/authz/protobuf.ts";
import {
  type CheckAnswer,
  type CheckedQuestion,
  checkRequest,
  framed,
  type GrpcVerifier,
  sendMessage,
  startGrpcVerifier,
} from "./grpc-harness.ts";

const OPENAI = { name: "o", dialect: "openai", baseUrl: "http://127.0.0.1:1", credential: "sk" } as const;
const GEMINI = { ...OPENAI, name: "g", dialect: "gemini" } as const;
const CHAT = "/v1/chat/completions";
const MIB = 1024 * 1024;
const CHECK = "/envoy.service.auth.v3.Authorization/Check";

let verifier: GrpcVerifier;
beforeAll(async () => {
  verifier = await startGrpcVerifier();
  verifier.addGateway({ publicId: "open", upstreams: [OPENAI], operations: ["generate", "embed", "models"] });
  verifier.addGateway({ publicId: "gemini", upstreams: [GEMINI], operations: ["generate", "models"] });
});
afterAll(() => verifier.close());

type Header = readonly [string, string];
const bearer = (key: string): Header => ["authorization", `Bearer ${key}`];

/** Asks about a call of a model with a key. */
const ask = (key: string, question: CheckedQuestion = {}) =>
  verifier.check({ protects: "/g/open", ...question, headers: [bearer(key), ...(question.headers ?? [])] });

const isYes = ({ code, grpcStatus }: CheckAnswer) => code === 0 && grpcStatus === "0";

describe("a question of Envoy over gRPC", () => {
  test("b397: a yes sets what the verifier says, over what a client says, and takes off the key", async () => {
    const key = verifier.addKey({ namespace: "", scopes: scopeSet(["gateway:generate", "memory:read"]) });
    const { keyId, teamId } = verifier.recordOf(key);
    const claims: Header[] = [
      ["x-keyplane-team", "forged"],
      ["x-keyplane-subject", "forged"],
    ];
    const answer = await ask(key, { headers: claims });
    expect(answer).toMatchObject({ code: 0, grpcStatus: "0", removedParameters: [] });
    expect(answer.set.slice(0, 5)).toEqual(
      [
        ["x-keyplane-key", keyId],
        ["x-keyplane-team", teamId],
        ["x-keyplane-namespace", ""],
        ["x-keyplane-scopes", "gateway:generate memory:read"],
        ["x-keyplane-operation", "gateway.chat_completions"],
        // Overwritten by the old field and by the new one, and kept where it is empty.
      ].map((pair) => [...pair, "0/2/1"]),
    );
    expect(answer.removed).toEqual(["authorization", "x-api-key", "x-goog-api-key", "x-keyplane-subject"]);
    expect(answer.metadata).toEqual({
      ...{ key: keyId, team: teamId, namespace: "", operation: "gateway.chat_completions" },
    });
    expect(JSON.stringify(answer)).not.toContain(key.slice(4));
  });

  test.each<[string, Partial<KeyRecord>, string | undefined, CheckedQuestion, number]>([
    ["a key of the scope", {}, "/g/open", {}, 200],
    ["a revoked key", { state: "revoked" }, "/g/open", {}, 401],
    ["a key without the scope", { scopes: scopeSet(["memory:read"]) }, "/g/open", {}, 403],
    ["another gateway", {}, "/g/nowhere", {}, 401],
    ["a path that is no operation", {}, "/g/open", { path: "/v1/nowhere" }, 404],
    ["another method", {}, "/g/open", { method: "GET" }, 404],
    ["a path that may be read in two ways", {}, "/g/open", { path: "/v1/../x" }, 400],
    ["a scope", {}, "/scope/memory:read", { path: "/any" }, 200],
    ["a scope, of a key of some libraries", { libraryIds: ["l"] }, "/scope/memory:read", {}, 403],
    ["concurrent calls", { concurrent: 8 }, "/g/open", {}, 403],
    ["concurrent calls, unmetered", { concurrent: 8 }, "/unmetered/g/open", {}, 200],
    ["a header that steers", {}, "/g/open", { headers: [["x-http-method-override", "DELETE"]] }, 400],
    ["a claim in another spelling", {}, "/g/open", { headers: [["x_keyplane_team", "t"]] }, 400],
    ["a parameter that steers", {}, "/g/open", { path: `${CHAT}?_method=DELETE` }, 400],
    ["nothing that is named", {}, undefined, {}, 403],
    ["a path behind what is named", {}, "/g/open/v1", {}, 403],
    ["a query behind what is named", {}, "/g/open?x", {}, 403],
    ["what is no scope", {}, "/scope/memory:all", {}, 403],
    ["nothing, in a text", {}, "", {}, 403],
  ])("b397: %s", async (_what, fields, protects, question, status) => {
    const answer = await ask(verifier.addKey(fields), { protects, ...question });
    expect([answer.grpcStatus, answer.status ?? 200]).toEqual(["0", status]);
    expect(isYes(answer)).toBe(status === 200);
  });

  test("b397: what a client claims to be is taken off, also if a claim has its name as the value", async () => {
    const answer = await ask(verifier.addKey({ namespace: "x-keyplane-subject" }), {
      headers: [["X-Keyplane-Subject", "forged"]],
    });
    expect([isYes(answer), answer.removed]).toEqual([true, expect.arrayContaining(["x-keyplane-subject"])]);
  });

  test("b397: a request names nothing that is protected", async () => {
    const key = verifier.addKey();
    for (const header of ["keyplane", "x-keyplane", "x-keyplane-protects", "context-extensions"]) {
      const answer = await ask(key, { protects: undefined, headers: [[header, "/g/open"]] });
      expect([header, answer.status]).toEqual([header, 403]);
      expect(answer.body).toContain("context_extensions");
    }
  });

  test("a refusal is in the caller's format, says when to try again, and counts", async () => {
    const key = verifier.addKey({ rateLimit: { requestsPerMinute: 60, burst: 1, scope: "Replica" } });
    expect(isYes(await ask(key))).toBe(true);
    const refused = await ask(key);
    expect([refused.status, refused.code, isYes(refused)]).toEqual([429, 7, false]);
    expect(refused.set).toContainEqual(["retry-after", "1", "0/2/1"]);
    expect(JSON.parse(refused.body)).toMatchObject({ error: { code: "rate_limited" } });
    const gemini = await ask("none", { protects: "/g/gemini", path: "/v1beta/models/gemini-3:generateContent" });
    expect([gemini.status, gemini.code]).toEqual([401, 16]);
    expect(JSON.parse(gemini.body)).toMatchObject({ error: { status: "UNAUTHENTICATED" } });
    expect(verifier.refused.at(-1)).toMatchObject({ cause: "malformed", route: "/authz/envoy/g/:publicId" });
  });

  test("503 while the index is not current", async () => {
    verifier.setCurrent(false);
    const answer = await ask(verifier.addKey());
    verifier.setCurrent(true);
    expect([answer.status, answer.grpcStatus, answer.code]).toEqual([503, "0", 7]);
  });

  test("b397: a header in two places, or in two spellings of one, is there twice", async () => {
    const key = verifier.addKey();
    const named = { protects: "/g/open" };
    const raw = (rawHeaders: readonly Header[], headers: readonly Header[] = []) =>
      verifier.check({ ...named, rawHeaders, headers });
    expect(isYes(await raw([bearer(key)]))).toBe(true);
    expect((await raw([bearer(key)], [bearer(key)])).status).toBe(401);
    expect((await raw([bearer(key), ["Authorization", "Bearer x"]])).status).toBe(401);
    expect((await raw([], [["authorization", `Bearer ${key},Bearer ${key}`]])).status).toBe(401);
    expect((await raw([bearer(key), ["cookie", key]])).status).toBe(400);
  });

  test("b397: the address is what the proxy sends in its header, and never the peer of its connection", async () => {
    const here = verifier.addKey({ allowedCIDRs: ["203.0.113.0/24"] });
    const ofPeer = verifier.addKey({ allowedCIDRs: ["127.0.0.0/8"] });
    expect(isYes(await ask(here, { headers: [["x-real-ip", "203.0.113.9"]] }))).toBe(true);
    expect((await ask(ofPeer, { headers: [["x-real-ip", "203.0.113.9"]] })).status).toBe(403);
    const unknown = await ask(ofPeer);
    expect(unknown.status).toBe(403);
    expect(unknown.body).toContain("--authz-address-header");
  });
});

describe("a body that names the model", () => {
  const WHOLE: readonly Header[] = [
    ["x-envoy-auth-partial-body", "false"],
    ["content-type", "application/json"],
  ];
  const BODY = '{"model":"gpt","messages":[]}';
  const length = (bytes: number): Header => ["content-length", String(bytes)];
  const ofModel = (question: CheckedQuestion) => ask(verifier.addKey({ allowedModels: ["gpt"] }), question);

  test.each<[string, CheckedQuestion]>([
    ["with its length", { rawBody: BODY, headers: [...WHOLE, length(BODY.length)] }],
    ["in chunks", { rawBody: BODY, headers: WHOLE }],
    ["in letters of two bytes", { rawBody: '{"model":"gpt","x":"ü"}', headers: [...WHOLE, length(24)] }],
    ["of a megabyte", { rawBody: `{"model":"gpt","x":"${"y".repeat(MIB)}"}`, headers: WHOLE }],
  ])("b398: is read %s", async (_what, question) => {
    expect(isYes(await ofModel(question))).toBe(true);
  });

  test.each<[string, CheckedQuestion]>([
    ["that is none", { headers: WHOLE }],
    ["that is empty", { rawBody: "", headers: WHOLE }],
    ["that is a text, in which Envoy replaces bytes", { textBody: BODY, headers: WHOLE }],
    ["that is partial", { rawBody: BODY, headers: [["x-envoy-auth-partial-body", "true"], ...WHOLE.slice(1)] }],
    ["of which nothing says that it is whole", { rawBody: BODY, headers: WHOLE.slice(1) }],
    ["that says so twice", { rawBody: BODY, headers: [...WHOLE, ["x-envoy-auth-partial-body", "false"]] }],
    ["that is shorter than it says", { rawBody: BODY, headers: [...WHOLE, length(BODY.length + 1)] }],
    ["that is longer than it says", { rawBody: BODY, headers: [...WHOLE, length(BODY.length - 1)] }],
    ["that is compressed", { rawBody: BODY, headers: [...WHOLE, ["content-encoding", "gzip"]] }],
    ["without its type", { rawBody: BODY, headers: WHOLE.slice(0, 1) }],
    ["of two types", { rawBody: BODY, headers: [...WHOLE, ["content-type", "text/plain"]] }],
    [
      "of two types, joined",
      { rawBody: BODY, headers: [["content-type", "application/json,text/x"], ...WHOLE.slice(0, 1)] },
    ],
    ["of another model", { rawBody: '{"model":"other"}', headers: WHOLE }],
    ["of two models", { rawBody: '{"model":"gpt","model":"other"}', headers: WHOLE }],
    ["with a model in a header", { rawBody: BODY, headers: [...WHOLE, ["x-model-name", "other"]] }],
  ])("b398: is refused %s", async (_what, question) => {
    const answer = await ofModel(question);
    expect([isYes(answer), (answer.status ?? 0) >= 400]).toEqual([false, true]);
  });

  test("b398: a key that ends while a long body is looked through is refused", async () => {
    const key = verifier.addKey({ allowedModels: ["gpt"] });
    const rawBody = `{"model":"gpt","x":"${"y".repeat(20 * MIB)}"}`;
    const answered = ask(key, { rawBody, headers: WHOLE });
    const revoked = new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (verifier.deps.streams.figures().calls === 0) return;
        clearInterval(timer);
        verifier.changeKey(key, { state: "revoked" });
        resolve();
      });
    });
    await revoked;
    expect((await answered).status).toBe(401);
  });
});

describe("bytes that are no question", () => {
  const question = () => checkRequest({ protects: "/g/open", headers: [bearer(verifier.addKey())] });
  const send = (message: Buffer, headers?: Readonly<Record<string, string>>) =>
    sendMessage(verifier.client, message, headers);

  test.each<[string, () => Buffer]>([
    ["nothing", () => Buffer.alloc(0)],
    ["an empty message", () => framed("")],
    ["half of the five bytes before it", () => framed(question()).subarray(0, 3)],
    ["a message that is cut", () => framed(question()).subarray(0, 60)],
    ["a message that is cut within its fields", () => framed(question().slice(0, -3))],
    ["a byte more", () => Buffer.concat([framed(question()), Buffer.alloc(1)])],
    ["two messages", () => Buffer.concat([framed(question()), framed(question())])],
    ["a message that is called compressed", () => framed(question(), 1)],
    ["a length of 4 GiB", () => framed(question(), 0, 2 ** 32 - 1)],
    ["a field of 4 GiB", () => framed("\x0a\xff\xff\xff\xff\x0f")],
    ["a number without an end", () => framed("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")],
    ["a field of the number 0", () => framed("\x02\x00")],
    ["a group", () => framed("\x0b\x0c")],
    ["attributes that are a number", () => framed(numberField(1, 5))],
    ["a text", () => framed("GET / HTTP/1.1")],
    ["a method twice", () => framed(question() + inHttp(stringField(2, "POST")))],
    ["a path twice", () => framed(question() + inHttp(stringField(4, CHAT)))],
    ["two places that are protected", () => framed(question() + inAttributes(10, "keyplane", "/g/open"))],
  ])("b399: %s is refused, and opens nothing", async (_what, message) => {
    const answer = await send(message());
    expect(isYes(answer)).toBe(false);
    expect([answer.grpcStatus, (answer.status ?? 0) >= 400]).toEqual(["0", true]);
    expect(isYes(await send(framed(question())))).toBe(true);
  });

  const inHttp = (field: string) => bytesField(1, bytesField(4, bytesField(2, field)));
  const inAttributes = (number: number, name: string, value: string) =>
    bytesField(1, bytesField(number, stringField(1, name) + stringField(2, value)));

  test("b399: fields that are not known, and metadata of megabytes, decide nothing", async () => {
    const unknown = `${numberField(99, 2 ** 31)}${bytesField(2_000, "x")}\x09abcdefgh\x0dabcd`;
    const key = verifier.addKey();
    expect(isYes(await ask(key, { more: unknown }))).toBe(true);
    expect(isYes(await ask(key, { more: bytesField(11, "m".repeat(4 * MIB)) }))).toBe(true);
    expect(isYes(await ask(key, { more: bytesField(10, stringField(1, "other") + stringField(2, "/g/x")) }))).toBe(
      true,
    );
  });

  test("b399: a message beyond 33 MiB is 413, and frees its memory", async () => {
    const answer = await send(framed(bytesField(11, "m".repeat(34 * MIB)))).catch(() => undefined);
    expect(answer).toMatchObject({ status: 413, grpcStatus: "0" });
    await expect.poll(() => verifier.deps.streams.figures().keptBytes).toBe(0);
    expect(isYes(await send(framed(question())))).toBe(true);
  });

  test("b399: messages that are held back keep no others out", async () => {
    const held = Array.from({ length: 200 }, () => {
      const stream = verifier.client.request({ ":method": "POST", ":path": CHECK, "content-type": "application/grpc" });
      stream.on("error", () => {});
      stream.write(framed("m".repeat(40_000), 0, 30 * MIB));
      return stream;
    });
    await expect.poll(() => verifier.deps.streams.figures().keptBytes).toBeGreaterThan(7 * MIB);
    expect(isYes(await send(framed(question())))).toBe(true);
    const large = { more: bytesField(11, "m".repeat(4 * MIB)) };
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(verifier.addKey(), large)));
    expect(answers.map(isYes)).toEqual(Array(8).fill(true));
    for (const stream of held) stream.close();
    await expect.poll(() => verifier.deps.streams.figures().keptBytes).toBe(0);
  });

  test("b399: a caller that leaves while its body is looked through leaves nothing behind", async () => {
    const key = verifier.addKey({ allowedModels: ["gpt"] });
    const whole = ["x-envoy-auth-partial-body", "false"] as const;
    const headers = [bearer(key), whole, ["content-type", "application/json"] as const];
    const rawBody = `{"model":"gpt","x":"${"y".repeat(20 * MIB)}"}`;
    const stream = verifier.client.request({ ":method": "POST", ":path": CHECK });
    stream.on("error", () => {}).end(framed(checkRequest({ protects: "/g/open", headers, rawBody })));
    await expect.poll(() => verifier.deps.streams.figures().calls, { interval: 1 }).toBe(1);
    stream.close(8);
    await expect.poll(() => verifier.deps.streams.figures()).toMatchObject({ calls: 0, keptBytes: 0 });
    expect(isYes(await send(framed(question())))).toBe(true);
    expect(verifier.lines.filter((line) => line.includes("failed"))).toEqual([]);
  });

  test("b399: thousands of streams that are reset at once end no connection", async () => {
    const session = connect(`http://127.0.0.1:${verifier.authzPort}`);
    const message = framed(question());
    for (let round = 0; round < 30; round++) {
      const streams = Array.from({ length: 100 }, () => {
        const stream = session.request({ ":method": "POST", ":path": CHECK });
        stream.on("error", () => {});
        stream.write(message.subarray(0, 20));
        stream.close(8);
        return new Promise((resolve) => stream.once("close", resolve));
      });
      await Promise.all(streams);
    }
    expect(isYes(await sendMessage(session, message))).toBe(true);
    session.close();
  });

  test("another method, and what is no gRPC, is not served", async () => {
    const other = await new Promise((resolve) => {
      const stream = verifier.client.request({ ":method": "POST", ":path": "/grpc.health.v1.Health/Check" });
      stream.on("response", (head) => resolve(head["grpc-status"]));
      stream.end();
    });
    expect(other).toBe("12");
    const answered = await new Promise<string>((resolve) => {
      let text = "";
      const socket = connectSocket(verifier.authzPort, "127.0.0.1");
      socket.on("data", (piece) => {
        text += piece.toString("latin1");
      });
      socket.on("error", () => {});
      socket.on("close", () => resolve(text));
      socket.write("GET /authz/envoy/scope/memory:read/ HTTP/1.1\r\nHost: x\r\n\r\n");
    });
    expect(answered).not.toContain("200");
  });
});
