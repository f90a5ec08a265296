/**
 * An upstream that keeps objects of every kind for every caller with its credential, and tells no teams apart. Like a
 * model, it answers with what it has read: of the body, and of all that the body names, wherever and however that is
 * spelt.
 */
import type { ServerResponse } from "node:http";
import type { KeptKind, ServedOperation } from "../../../../domain/access/gateway-operations.ts";
import { startUpstream } from "../upstream.ts";
import { type KeptWorld, marksIn, type Thing } from "./kept-world.ts";
import { type Answer, Asked, CONFINED_HEADER, decodeJson, type Fault, MISSING, shown } from "./upstream-call.ts";

const PROMPTS = [
  ...["gateway.chat_completions", "gateway.completions", "gateway.messages", "gateway.count_message_tokens"],
  ...["gateway.generate_content", "gateway.stream_generate_content", "gateway.count_tokens"],
  ...["gateway.embed_content", "gateway.batch_embed_contents", "gateway.edit_images", "gateway.transcribe"],
];

/** Makes the items that a list of OpenAI's says, and finds those that it names by their ids. */
function itemsOf(asked: Asked, value: unknown, parent: Thing): Thing[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.map((item) => {
    const marks = asked.world.readAt(asked.place, JSON.stringify(item ?? ""));
    return asked.make("item", { parent, marks, isInput: true });
  });
}

function respond(asked: Asked): Answer {
  const { previous_response_id: _previous, conversation, input, store, stream } = asked.said;
  const response = asked.make("response", { isGone: store === false });
  const output = asked.make("item", { parent: response, isGone: store === false });
  const said = itemsOf(asked, input, response);
  response.inner.push(...said, output);
  const id =
    typeof conversation === "object" && conversation !== null && "id" in conversation ? conversation.id : conversation;
  if (typeof id === "string") asked.find(id, "conversation").inner.push(...said, output);
  return stream === true ? streamed(response) : { json: shown(response) };
}

function streamed(response: Thing): Answer {
  const { output, ...rest } = shown(response) as { output: object[] };
  const events = [
    { type: "response.created", response: { ...rest, output: [] } },
    ...output.map((item) => ({ type: "response.output_item.done", item })),
    { type: "response.completed", response: { ...rest, output } },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return { text, headers: { "content-type": "text/event-stream" } };
}

/** Answer of a model. */
function said(asked: Asked): Answer {
  const { operation, read: text } = asked;
  const candidates = [{ content: { parts: [{ text }] } }];
  if (operation === "gateway.stream_generate_content")
    return { text: `data: ${JSON.stringify({ candidates })}\n\n`, headers: { "content-type": "text/event-stream" } };
  return { json: { choices: [{ message: { content: text } }], content: [{ text }], candidates, usage: {} } };
}

/** Lines of the results of a batch, with what its requests have read. */
function resultsOf(marks: string): string {
  const body = { choices: [{ message: { content: marks } }], usage: { prompt_tokens: 2 } };
  return `${JSON.stringify({ custom_id: "1", key: "1", response: { status_code: 200, body }, result: { type: "succeeded", marks } })}\n`;
}

function begin(asked: Asked): Answer {
  // A file that a request of the body names has no lines.
  const isOfFile = asked.dialect === "openai" || (asked.dialect === "gemini" && asked.text.includes("fileName"));
  const input = isOfFile ? asked.world.namedIn(decodeJson(asked.text)).find(({ kind }) => kind === "file") : undefined;
  const marks =
    input === undefined ? asked.read : marksIn(`${asked.read} ${asked.world.readAt(asked.place, input.content)}`);
  const batch = asked.make("batch", { marks, content: marks });
  const { inner: _none, ...first } = batch;
  if (asked.dialect === "openai" || input !== undefined) {
    const outputs = asked.dialect === "openai" ? 2 : 1;
    for (let at = 0; at < outputs; at++) batch.inner.push(asked.make("output", { marks, content: resultsOf(marks) }));
  }
  return {
    json: asked.dialect === "gemini" ? { name: `batches/${batch.id}`, metadata: {} } : shown({ ...first, inner: [] }),
  };
}

const onFile = (asked: Asked): Thing => asked.find(asked.names[0], "file", "output");
const onStore = (asked: Asked): Thing => asked.find(asked.names[0], "store");
const inStore = (asked: Asked): Thing => {
  const file = asked.find(asked.names[1], "file", "output");
  if (!onStore(asked).inner.includes(file)) throw MISSING;
  return file;
};
const inAddition = (asked: Asked): Thing => asked.find(asked.names[1], "addition");
const describe =
  (...kinds: KeptKind[]) =>
  (asked: Asked): Answer => ({ json: shown(asked.find(asked.names[0], ...kinds)) });
const remove =
  (...kinds: KeptKind[]) =>
  (asked: Asked): Answer =>
    asked.remove(asked.find(asked.names[0], ...kinds));
const itemIn = (asked: Asked): Thing => {
  const item = asked.find(asked.names[0], "conversation").inner.find(({ id }) => id === asked.names[1]);
  if (item === undefined || item.isGone) throw MISSING;
  return item;
};
const filesNamed = (asked: Asked): Thing[] =>
  asked.world.namedIn(decodeJson(asked.text)).filter((thing) => thing.kind === "file" && thing.place === asked.place);
const addTo = (asked: Asked, store: Thing): Thing[] => {
  const files = filesNamed(asked);
  store.inner.push(...files.filter((file) => !store.inner.includes(file)));
  store.marks = marksIn(`${store.marks} ${files.map(({ marks }) => marks).join(" ")}`);
  return files;
};

type Handler = (asked: Asked) => Answer;
const HANDLERS: Readonly<Partial<Record<ServedOperation, Handler>>> = {
  "gateway.responses": respond,
  "gateway.get_response": (asked) => {
    const response = asked.find(asked.names[0], "response");
    return asked.query.get("stream") === "true" ? streamed(response) : { json: shown(response) };
  },
  "gateway.delete_response": remove("response"),
  "gateway.cancel_response": describe("response"),
  "gateway.list_input_items": (asked) => asked.list(asked.find(asked.names[0], "response").inner),
  "gateway.create_conversation": (asked) => {
    const conversation = asked.make("conversation");
    conversation.inner.push(...itemsOf(asked, asked.said.items ?? [], conversation));
    return { json: shown(conversation) };
  },
  "gateway.get_conversation": describe("conversation"),
  "gateway.update_conversation": describe("conversation"),
  "gateway.delete_conversation": remove("conversation"),
  "gateway.create_items": (asked) => {
    const conversation = asked.find(asked.names[0], "conversation");
    const items = itemsOf(asked, asked.said.items, conversation);
    conversation.inner.push(...items);
    return asked.list(items);
  },
  "gateway.list_items": (asked) =>
    asked.list(asked.find(asked.names[0], "conversation").inner.filter(({ isGone }) => !isGone)),
  "gateway.get_item": (asked) => ({ json: shown(itemIn(asked)) }),
  "gateway.delete_item": (asked) => {
    itemIn(asked).isGone = true;
    return { json: shown(asked.find(asked.names[0], "conversation")) };
  },
  "gateway.create_file": (asked) => {
    const content = /filename="[^"]*"\r\n(?:[^\r\n]+\r\n)*\r\n([\s\S]*?)\r\n--/.exec(asked.text)?.[1] ?? "";
    return { json: shown(asked.make("file", { content, marks: marksIn(asked.text) })) };
  },
  "gateway.list_files": (asked) => {
    const ids = asked.query.getAll("ids[]");
    const files = asked.all("file", "output").filter(({ id }) => ids.length === 0 || ids.includes(id));
    return asked.list(files, asked.dialect === "anthropic" ? "pages" : "");
  },
  "gateway.get_file": describe("file", "output"),
  "gateway.delete_file": remove("file", "output"),
  "gateway.get_file_content": (asked) => ({ text: onFile(asked).content }),
  "gateway.create_upload": (asked) => ({ json: shown(asked.make("upload")) }),
  "gateway.add_upload_part": (asked) => {
    const parent = asked.find(asked.names[0], "upload");
    return { json: shown(asked.make("part", { parent, marks: marksIn(asked.text) })) };
  },
  "gateway.complete_upload": (asked) => {
    const upload = asked.find(asked.names[0], "upload");
    const parts = asked.world.namedIn(decodeJson(asked.text));
    const marks = marksIn(parts.map((part) => part.marks).join(" "));
    const file = asked.make("file", { marks, content: marks });
    asked.world.end(upload);
    return { json: { ...shown(upload), status: "completed", file: shown(file) } };
  },
  "gateway.cancel_upload": (asked) => ({ json: shown(asked.find(asked.names[0], "upload")) }),
  "gateway.upload_gemini_file": (asked) => {
    const id = asked.query.get("upload_id");
    if (id === null) {
      const session = asked.make("session");
      const next = `http://${asked.received.headers.host}/upload/v1beta/files?upload_id=${session.id}&upload_protocol=resumable`;
      return { json: {}, headers: { "X-Goog-Upload-URL": next } };
    }
    const session = asked.find(id, "session");
    asked.world.end(session);
    return { json: { file: shown(asked.make("file", { content: asked.text, marks: marksIn(asked.text) })) } };
  },
  "gateway.list_gemini_files": (asked) => asked.list(asked.all("file", "output"), "files"),
  "gateway.get_gemini_file": describe("file", "output"),
  "gateway.delete_gemini_file": remove("file", "output"),
  "gateway.download_gemini_file": (asked) => ({ text: onFile(asked).content }),
  "gateway.create_cached_content": (asked) => ({ json: shown(asked.make("cache")) }),
  "gateway.list_cached_contents": (asked) => asked.list(asked.all("cache"), "cachedContents"),
  "gateway.get_cached_content": describe("cache"),
  "gateway.update_cached_content": describe("cache"),
  "gateway.delete_cached_content": remove("cache"),
  "gateway.create_message_batch": begin,
  "gateway.list_message_batches": (asked) => asked.list(asked.all("batch")),
  "gateway.get_message_batch": describe("batch"),
  "gateway.cancel_message_batch": describe("batch"),
  "gateway.delete_message_batch": remove("batch"),
  "gateway.get_batch_results": (asked) => ({ text: resultsOf(asked.find(asked.names[0], "batch").marks) }),
  "gateway.create_batch": begin,
  "gateway.list_batches": (asked) => asked.list(asked.all("batch")),
  "gateway.get_batch": describe("batch"),
  "gateway.cancel_batch": describe("batch"),
  "gateway.batch_generate_content": begin,
  "gateway.async_batch_embed_content": begin,
  "gateway.list_gemini_batches": (asked) => asked.list(asked.all("batch"), "operations"),
  "gateway.get_gemini_batch": describe("batch"),
  "gateway.cancel_gemini_batch": (asked) => {
    asked.find(asked.names[0], "batch");
    return { json: {} };
  },
  "gateway.delete_gemini_batch": remove("batch"),
  "gateway.create_vector_store": (asked) => {
    const store = asked.make("store");
    addTo(asked, store);
    return { json: shown(store) };
  },
  "gateway.list_vector_stores": (asked) => asked.list(asked.all("store")),
  "gateway.get_vector_store": describe("store"),
  "gateway.update_vector_store": describe("store"),
  "gateway.delete_vector_store": remove("store"),
  "gateway.search_vector_store": (asked) => ({ json: { data: [{ text: onStore(asked).marks }], has_more: false } }),
  "gateway.add_to_vector_store": (asked) => ({ json: addTo(asked, onStore(asked)).map(shown)[0] ?? {} }),
  "gateway.list_files_in_vector_store": (asked) => asked.list(onStore(asked).inner),
  "gateway.get_file_in_vector_store": (asked) => ({ json: shown(inStore(asked)) }),
  "gateway.update_file_in_vector_store": (asked) => ({ json: shown(inStore(asked)) }),
  "gateway.remove_from_vector_store": (asked) => {
    const file = inStore(asked);
    const store = onStore(asked);
    store.inner = store.inner.filter((one) => one !== file);
    return { json: { id: file.id, deleted: true } };
  },
  "gateway.read_file_in_vector_store": (asked) => ({ json: { data: [{ text: inStore(asked).marks }] } }),
  "gateway.create_file_batch": (asked) => {
    const store = onStore(asked);
    const addition = asked.make("addition", { parent: store });
    addition.inner.push(...addTo(asked, store));
    return { json: shown(addition) };
  },
  "gateway.get_file_batch": (asked) => ({ json: shown(inAddition(asked)) }),
  "gateway.cancel_file_batch": (asked) => ({ json: shown(inAddition(asked)) }),
  "gateway.list_files_of_batch": (asked) => asked.list(inAddition(asked).inner),
  ...Object.fromEntries(PROMPTS.map((operation) => [operation, said])),
};

/** Operations whose bodies are contents of files, which a caller may fill with any ids. */
const CONTENTS: ReadonlySet<ServedOperation> = new Set([
  ...(["gateway.create_file", "gateway.add_upload_part", "gateway.upload_gemini_file"] as const),
]);

/**
 * Starts one of the upstreams.
 *
 * @param onFault returns the fault of the next answer, and is called as it is to begin
 */
export async function startAllKindsUpstream(
  world: KeptWorld,
  place: number,
  onFault: (team: string, operation: ServedOperation) => Fault | undefined,
) {
  /** Requests that named another team's objects. */
  const foreign: string[] = [];
  const upstream = await startUpstream((response, received) => {
    const asked = new Asked(world, place, upstream.url, received, onFault);
    const confined = String(received.headers[CONFINED_HEADER] ?? "");
    const text = `${received.url} ${CONTENTS.has(asked.operation) ? "" : decodeJson(asked.text)}`;
    for (const { id, team } of world.namedIn(text))
      if (team !== asked.team && !confined.includes(id))
        foreign.push(`${asked.team} had ${received.method} ${received.url} name ${id} of ${team}`);
    const { fault } = asked;
    send(response, fault === "refused" ? { status: 503, json: {} } : answerTo(asked), fault);
  });
  return { ...upstream, foreign };
}

function answerTo(asked: Asked): Answer {
  try {
    const handler = HANDLERS[asked.operation];
    if (handler === undefined) throw new Error(`the upstream does not know ${asked.operation}`);
    return handler(asked);
  } catch (error) {
    if (error !== MISSING) return { status: 501, json: { error: String(error) } };
    return { status: 404, json: { error: { message: "No such object" } } };
  }
}

function send(
  response: ServerResponse,
  { status = 200, headers, json, text = JSON.stringify(json) }: Answer,
  fault?: Fault,
): void {
  const head = { "content-type": json === undefined ? "application/octet-stream" : "application/json", ...headers };
  // A file of which a part comes as if it were all is another file: no gateway can know what the rest names.
  const isFile = json === undefined && text !== "";
  if (fault === "error") response.writeHead(500, head).end('{"error":{"message":"failed"}}');
  else if (fault === "empty" && !isFile) response.writeHead(status, head).end("{}");
  else if (fault === "broken" && !isFile) response.writeHead(status, head).end(text.slice(0, text.length / 2));
  else if (fault === "cut" || (isFile && (fault === "empty" || fault === "broken"))) {
    response.writeHead(status, head);
    response.write(text.slice(0, text.length / 2), () => response.destroy());
  } else response.writeHead(status, head).end(text);
}
