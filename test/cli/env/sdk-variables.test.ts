import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { expect, onTestFinished, test, vi } from "vitest";
import { variablesOf } from "../../../cli/env/key-variables.ts";
import { SDK_VARIABLES } from "../../../domain/key/secret/sdk-variables.ts";

test("the official SDKs read the variables by themselves, and call below the base URL with the key", async () => {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    const { authorization = "", "x-api-key": own = "", "x-goog-api-key": google = "" } = request.headers;
    calls.push(`${request.url} ${authorization}${own}${google}`);
    response.writeHead(400, { "content-type": "application/json" }).end("{}");
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/g/main`;
  for (const { key, baseUrl, path } of Object.values(SDK_VARIABLES)) {
    vi.stubEnv(key, "test-key");
    vi.stubEnv(baseUrl, `${url}${path}`);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
  const [model, content] = ["m", "hello"];
  const messages = [{ role: "user" as const, content }];
  await expect(new OpenAI().chat.completions.create({ model, messages })).rejects.toThrow();
  await expect(new Anthropic().messages.create({ model, messages, max_tokens: 1 })).rejects.toThrow();
  await expect(new GoogleGenAI({}).models.generateContent({ model, contents: content })).rejects.toThrow();
  expect(calls).toEqual([
    expect.stringMatching(/^\/g\/main\/v1\/chat\/completions .*test-key$/),
    expect.stringMatching(/^\/g\/main\/v1\/messages .*test-key$/),
    expect.stringMatching(/^\/g\/main\/v1(beta)?\/models\/m:generateContent .*test-key$/),
  ]);
});

test("of a gateway for Gemini the variable is unset that Google's SDK would read before the key's", async () => {
  const gateway = (dialect: "gemini" | "openai") => ({
    metadata: { namespace: "n", name: "main" },
    spec: { upstreams: [{ dialect }] },
    status: { publicID: "main" },
  });
  const unsetOf = (dialect: "gemini" | "openai") =>
    variablesOf(gateway(dialect) as Parameters<typeof variablesOf>[0], "http://127.0.0.1").unset;
  expect([unsetOf("gemini"), unsetOf("openai"), variablesOf(undefined, "http://127.0.0.1").unset]).toEqual([
    ["GOOGLE_API_KEY"],
    [],
    [],
  ]);
});
