import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type Received, startUpstream } from "./upstream.ts";

type Item = { readonly id: string } & Readonly<Record<string, unknown>>;
type Conversation = { id: string; metadata: object; items: Item[] };
type StoredResponse = {
  id: string;
  status: string;
  previous: string | null;
  conversation: string | null;
  input: Item[];
  output: Item[];
};

/** How an answer is sent: whole, or piece by piece as an event stream. */
export type Sending = { readonly pause?: () => Promise<void> };

const idOf = (prefix: string) => `${prefix}_${randomBytes(24).toString("hex")}`;

/**
 * An upstream that keeps responses and conversations as OpenAI's published description says, for every caller with its
 * credential: it tells no teams apart.
 */
export async function startKeepingUpstream() {
  const responses = new Map<string, StoredResponse>();
  const conversations = new Map<string, Conversation>();
  const send = (response: ServerResponse, body: object, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const missing = (response: ServerResponse, what: string) =>
    send(
      response,
      { error: { message: `${what} not found.`, type: "invalid_request_error", param: null, code: null } },
      404,
    );
  const listOf = (items: readonly Item[], query: URLSearchParams) => {
    const after = query.get("after");
    const from = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1;
    const data = items.slice(from, from + Number(query.get("limit") ?? 20));
    const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return { object: "list", data, ...ends, has_more: from + data.length < items.length };
  };
  const shown = ({ id, status, previous, conversation, output }: StoredResponse, extra: object = {}) => ({
    ...{ id, object: "response", created_at: 1, status, model: "m", output, previous_response_id: previous },
    ...{ conversation: conversation === null ? null : { id: conversation }, usage: null, ...extra },
  });
  const asItems = (input: unknown): Item[] => {
    const list = Array.isArray(input) ? input : [{ type: "message", role: "user", content: input }];
    return list.map((item) => ({ id: idOf("msg"), type: "message", ...item }));
  };
  const events = (one: StoredResponse) => {
    const data = [
      { type: "response.created", response: shown({ ...one, status: "in_progress", output: [] }) },
      ...one.output.map((item) => ({ type: "response.output_item.added", output_index: 0, item })),
      { type: "response.output_text.delta", item_id: one.output[0]?.id, delta: "Hi" },
      { type: "response.completed", response: shown(one, { usage: { input_tokens: 3, output_tokens: 2 } }) },
    ];
    return data.map(
      (event, at) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`,
    );
  };
  const stream = (response: ServerResponse, one: StoredResponse, from = 0) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events(one).slice(from)) response.write(event);
    response.end();
  };

  function create(response: ServerResponse, body: Readonly<Record<string, unknown>>): void {
    const { previous_response_id: previous = null, conversation: named = null, input, store, stream: streams } = body;
    const conversation = typeof named === "object" && named !== null && "id" in named ? named.id : named;
    if (typeof previous === "string" && !responses.has(previous)) return void missing(response, "Previous response");
    if (typeof conversation === "string" && !conversations.has(conversation))
      return void missing(response, "Conversation");
    const output = [{ id: idOf("msg"), type: "message", role: "assistant", status: "completed", content: said("Hi") }];
    const one: StoredResponse = {
      ...{ id: idOf("resp"), status: body.background === true ? "queued" : "completed", output, input: asItems(input) },
      previous: typeof previous === "string" ? previous : null,
      conversation: typeof conversation === "string" ? conversation : null,
    };
    if (store !== false) responses.set(one.id, one);
    if (one.conversation !== null) conversations.get(one.conversation)?.items.push(...one.input, ...output);
    if (streams === true) stream(response, one);
    else send(response, shown(one, { usage: { input_tokens: 3, output_tokens: 2 } }));
  }

  function ofResponses(
    response: ServerResponse,
    method: string,
    path: readonly string[],
    query: URLSearchParams,
  ): void {
    const [id = "", action] = path;
    const one = responses.get(id);
    if (one === undefined) return void missing(response, `Response with id '${id}'`);
    if (action === "input_items") send(response, listOf(one.input, query));
    else if (action === "cancel") send(response, shown(Object.assign(one, { status: "cancelled" })));
    else if (method === "DELETE") {
      responses.delete(id);
      send(response, { id, object: "response", deleted: true });
    } else if (query.get("stream") === "true") stream(response, one, Number(query.get("starting_after") ?? -1) + 1);
    else send(response, shown(one, { usage: { input_tokens: 3, output_tokens: 2 } }));
  }

  function ofConversations(
    response: ServerResponse,
    { method, body }: { method: string; body: Readonly<Record<string, unknown>> },
    [id = "", items, itemId]: readonly string[],
    query: URLSearchParams,
  ): void {
    const show = ({ metadata, ...one }: Conversation) => ({
      id: one.id,
      object: "conversation",
      created_at: 1,
      metadata,
    });
    if (id === "") {
      const made = { id: idOf("conv"), metadata: body.metadata ?? {}, items: asItems(body.items ?? []) };
      conversations.set(made.id, made);
      return void send(response, show(made));
    }
    const one = conversations.get(id);
    if (one === undefined) return void missing(response, `Conversation with id '${id}'`);
    const item = one.items.find((each) => each.id === itemId);
    if (items === undefined) {
      if (method === "DELETE") {
        conversations.delete(id);
        return void send(response, { id, object: "conversation.deleted", deleted: true });
      }
      if (method === "POST") one.metadata = body.metadata ?? {};
      send(response, show(one));
    } else if (itemId === undefined) {
      if (method === "GET") return void send(response, listOf(one.items, query));
      const added = asItems(body.items);
      one.items.push(...added);
      send(response, listOf(added, new URLSearchParams({ limit: "100" })));
    } else if (item === undefined) missing(response, "Item");
    else if (method === "DELETE") {
      one.items = one.items.filter((each) => each !== item);
      send(response, show(one));
    } else send(response, item);
  }

  const respond = (response: ServerResponse, { method, url, body }: Received): void => {
    const { pathname, searchParams } = new URL(url, "http://upstream");
    const [, , collection, ...path] = pathname.split("/").map(decodeURIComponent);
    const said = body.length === 0 ? {} : JSON.parse(body.toString());
    if (collection === "responses" && path.length === 0) create(response, said);
    else if (collection === "responses") ofResponses(response, method, path, searchParams);
    else if (collection === "conversations") ofConversations(response, { method, body: said }, path, searchParams);
    else response.writeHead(404).end("{}");
  };
  const upstream = await startUpstream(respond);
  return { ...upstream, responses, conversations, respond, close: () => upstream.close() };
}

const said = (text: string) => [{ type: "output_text", text, annotations: [] }];
