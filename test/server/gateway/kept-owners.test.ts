/** Random calls of two teams with one credential, against a model of which team made what. */
import { assert, asyncProperty, constantFrom, array as listOf, nat, record } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { examples } from "../../env/nightly.ts";
import type { Harness } from "../harness.ts";
import { ownersInMemory } from "../ownership/owners-in-memory.ts";
import { startGateway, upstreamOf } from "./gateway.ts";
import { startKeepingUpstream } from "./keeping-upstream.ts";

type Kind = "response" | "conversation" | "item";
/** An id, and the team that made it. */
type Made = { readonly id: string; readonly kind: Kind; readonly team: number };

const ACTIONS = [
  ...([
    "respond",
    "stream",
    "forget",
    "go on",
    "converse",
    "refer",
    "read",
    "read stream",
    "inputs",
    "cancel",
  ] as const),
  ...(["delete", "create", "read conversation", "update", "add", "list", "read item", "delete item"] as const),
  "delete conversation",
] as const;
const steps = listOf(record({ team: nat(1), gateway: nat(1), action: constantFrom(...ACTIONS), target: nat(30) }), {
  minLength: 1,
  maxLength: 14,
});
type Step = {
  readonly team: number;
  readonly gateway: number;
  readonly action: (typeof ACTIONS)[number];
  readonly target: number;
};

let upstream: Awaited<ReturnType<typeof startKeepingUpstream>>;
let harness: Harness;
const teams: { readonly urls: readonly string[]; readonly key: string }[] = [];

beforeAll(async () => {
  upstream = await startKeepingUpstream();
  harness = await startGateway({ owners: ownersInMemory().owners });
  for (const teamId of ["team-a", "team-b"]) {
    const urls = [upstream.url, `${upstream.url}/v1`].map((url) => {
      const { publicId } = harness.addGateway({
        ...{ teamId, upstreams: [upstreamOf(url)], operations: ["generate", "responses"] },
      });
      return `${harness.url}/g/${publicId}/v1`;
    });
    teams.push({ urls, key: harness.addKey({ teamId }) });
  }
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

/** What a step asks for: the ids that it names, and what of its answer is made. */
function callOf({ action, target, team }: Step, made: readonly Made[]) {
  const pick = (kind: Kind): Made => {
    const all = made.filter((one) => one.kind === kind);
    const unknown: Made = { id: "unknown", kind, team: -1 };
    return all.length === 0 || target % 7 === 6 ? unknown : (all[target % all.length] ?? unknown);
  };
  const [response, conversation, item] = [pick("response"), pick("conversation"), pick("item")];
  const respond = (body: object, named: readonly Made[] = [], keeps = true) => ({
    ...{ method: "POST", path: "responses", body: { model: "m", input: "Hello", ...body }, named },
    makes: keeps ? ("response" as const) : undefined,
  });
  const onResponse = (method: string, rest = "") => ({
    ...{ method, path: `responses/${response.id}${rest}`, body: undefined, named: [response], makes: undefined },
  });
  const onConversation = (method: string, rest = "", body?: object) => ({
    ...{ method, path: `conversations/${conversation.id}${rest}`, body, named: [conversation], makes: undefined },
  });
  switch (action) {
    case "respond":
      return respond({});
    case "stream":
      return respond({ stream: true });
    case "forget":
      return respond({ store: false }, [], false);
    case "go on":
      return respond({ previous_response_id: response.id }, [response]);
    case "converse":
      return respond({ conversation: { id: conversation.id } }, [conversation]);
    case "refer":
      return respond({ input: [{ type: "item_reference", id: item.id }] }, [item]);
    case "read":
      return onResponse("GET");
    case "read stream":
      return onResponse("GET", "?stream=true&starting_after=0");
    case "inputs":
      return onResponse("GET", "/input_items");
    case "cancel":
      return onResponse("POST", "/cancel");
    case "delete":
      return onResponse("DELETE");
    case "create":
      return {
        method: "POST",
        path: "conversations",
        body: {},
        named: [],
        makes: "conversation" as const,
      };
    case "read conversation":
      return onConversation("GET");
    case "update":
      return onConversation("POST", "", { metadata: { team: String(team) } });
    case "add":
      return {
        ...onConversation("POST", "/items", { items: [{ role: "user", content: "Hi" }] }),
        makes: "item" as const,
      };
    case "list":
      return onConversation("GET", "/items");
    case "read item":
      return onConversation("GET", `/items/${item.id}`);
    case "delete item":
      return onConversation("DELETE", `/items/${item.id}`);
    case "delete conversation":
      return onConversation("DELETE");
  }
}

test("b372: whatever two teams with one credential call, each reaches what it has made, and nothing of the other's", async () => {
  let refused = 0;
  let passed = 0;
  await assert(
    asyncProperty(steps, async (all) => {
      const made: Made[] = [];
      for (const step of all) {
        const { method, path, body, named, makes } = callOf(step, made);
        const team = teams[step.team];
        upstream.received.length = 0;
        const answer = await fetch(`${team?.urls[step.gateway]}/${path}`, {
          method,
          headers: { authorization: `Bearer ${team?.key}`, "content-type": "application/json" },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await answer.text();
        const isForeign = named.some((one) => one.team !== step.team);
        if (isForeign) {
          refused++;
          expect([answer.status, answer.headers.get("x-keyplane-error-source"), upstream.received.length]).toEqual([
            ...[404, "keyplane", 0],
          ]);
        } else passed++;
        for (const other of made.filter((one) => one.team !== step.team)) expect(text).not.toContain(other.id);
        if (isForeign || answer.status !== 200) continue;
        if (makes === undefined) continue;
        for (const [id] of text.matchAll(/\b(?:resp|msg|conv)_[0-9a-f]{48}\b/g)) {
          const kind = id.startsWith("resp") ? "response" : id.startsWith("conv") ? "conversation" : "item";
          if (!made.some((one) => one.id === id)) made.push({ id, kind, team: step.team });
        }
      }
    }),
    { numRuns: examples(80) },
  );
  expect(refused).toBeGreaterThan(50);
  expect(passed).toBeGreaterThan(50);
});
