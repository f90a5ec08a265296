/** Conversations that Anthropic holds under an answer's id, with two teams whose gateways have one credential. */
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Harness } from "../harness.ts";
import { startGateway, upstreamOf } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

type Sent = {
  readonly thread?: { readonly type: string };
  readonly messages: readonly object[];
  readonly tools?: readonly object[];
};
type Team = { readonly url: string; readonly key: string };

let upstream: Upstream;
let harness: Harness;
let a: Team;
let b: Team;

function teamOf(teamId: string): Team {
  const upstreams = [upstreamOf(upstream.url, "anthropic")];
  const { publicId } = harness.addGateway({ teamId, operations: ["generate", "batches"], upstreams });
  return { url: `${harness.url}/g/${publicId}`, key: harness.addKey({ teamId }) };
}

beforeAll(async () => {
  upstream = await startUpstream((response, { body }) => {
    const { messages, tools }: Sent = JSON.parse(body.toString());
    const call = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
    const calls = tools !== undefined && messages.length < 5;
    response.writeHead(200, { "content-type": "application/json" }).end(
      JSON.stringify({
        ...{ id: `msg_${upstream.received.length}`, type: "message", role: "assistant", model: "m" },
        ...{ stop_reason: calls ? "tool_use" : "end_turn", usage: { input_tokens: 1, output_tokens: 1 } },
        content: [calls ? call : { type: "text", text: "Done" }],
      }),
    );
  });
  harness = await startGateway();
  a = teamOf("team-a");
  b = teamOf("team-b");
});
beforeEach(() => {
  upstream.received.length = 0;
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

const HELLO = { role: "user" as const, content: "Hello" };
const ASK = { model: "m", max_tokens: 64 };
const sdkOf = ({ url, key }: Team) => new Anthropic({ baseURL: url, apiKey: key });

/** Returns what each request to the upstream says of a thread, and how many messages it has. */
function sentTurns(): readonly string[] {
  return upstream.received.map(({ body }) => {
    const { thread, messages }: Sent = JSON.parse(body.toString());
    return `${thread?.type ?? "no thread"} ${messages.length}`;
  });
}

const goOn = (id: string) => ({ ...ASK, messages: [HELLO], thread: { type: "continue", previous_message_id: id } });
const CARRIERS = [
  ["messages", goOn],
  ["messages/count_tokens", goOn],
  ["messages/batches", (id: string) => ({ requests: [{ custom_id: "1", params: goOn(id) }] })],
  ["messages", (id: string) => ({ ...ASK, messages: [HELLO], thread: { PreviousMessageId: id } })],
  ["messages", (id: string) => ({ ...ASK, messages: [HELLO], extra_body: { thread: { previous_message_id: id } } })],
] as const;

test.each(CARRIERS)("b449: no team goes on from another's message thread by %s", async (path, bodyOf) => {
  const { id } = await sdkOf(a).beta.messages.create({ ...ASK, messages: [HELLO], thread: { type: "create" } });
  upstream.received.length = 0;
  const answers = [];
  for (const named of [id, "msg_unknown"]) {
    const answer = await fetch(`${b.url}/v1/${path}`, {
      method: "POST",
      headers: { "x-api-key": b.key, "anthropic-version": "2023-06-01", "content-type": "application/json" },
      body: JSON.stringify(bodyOf(named)),
    });
    answers.push([answer.status, await answer.text()]);
  }
  expect(answers[0]).toEqual([404, expect.stringContaining('"details":{"error_code":"thread_not_found"}')]);
  expect(answers[1]).toEqual(answers[0]);
  expect(upstream.received).toHaveLength(0);
});

test("b449: Anthropic's SDK sends the whole conversation where it goes on from a thread", async () => {
  const thread = sdkOf(a).beta.messages.thread(ASK);
  for (const content of ["one", "two", "three"]) await thread.send({ role: "user", content });
  expect(sentTurns()).toEqual(["create 1", "create 3", "create 5"]);
});

test("b449: the loop of tools of Anthropic's SDK comes to its end", async () => {
  const look = {
    ...{ type: "custom" as const, name: "look", description: "Look", input_schema: { type: "object" as const } },
    ...{ run: () => "seen", parse: (input: unknown) => input },
  };
  const last = await sdkOf(a).beta.messages.toolRunner({ ...ASK, messages: [HELLO], tools: [look] });
  expect(last.content).toMatchObject([{ type: "text", text: "Done" }]);
  expect(sentTurns()).toEqual(["create 1", "create 3", "no thread 5"]);
});

test("a caller that asks Anthropic why a prompt missed its cache is answered", async () => {
  const { id } = await sdkOf(a).messages.create({ ...ASK, messages: [HELLO] });
  const again = { ...ASK, messages: [HELLO], diagnostics: { previous_message_id: id } };
  await sdkOf(a).messages.create(again);
  expect(sentTurns()).toEqual(["no thread 1", "no thread 1"]);
});
