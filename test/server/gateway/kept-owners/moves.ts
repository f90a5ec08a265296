/** Calls of every operation that has to do with what upstreams keep. */
import type { KeptKind, ServedOperation } from "../../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../../domain/access/key-record.ts";
import {
  chatBody,
  contentOf,
  contentsOf,
  extrasOf,
  fileContent,
  formOf,
  generateBody,
  inPath,
  listing,
  responseBody,
} from "./bodies.ts";
import { type Choice, type Move, move } from "./choice.ts";

const FORWARDS = { limit: "limit", after: "after" } as const;
const START = { "x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start" };
const hello = (c: Choice) => ({ metadata: { mark: c.mark } });

/** Ends an upload of Gemini's, which makes a file. */
const GEMINI_FILE = move("gateway.upload_gemini_file", "gemini", (c) => {
  const query = { upload_id: c.held("session") };
  const text = c.below(3) === 2 ? c.mark : c.inLines("", () => ({ key: "1", request: generateBody(c) }));
  return { query, text, headers: { "x-goog-upload-command": "upload, finalize" } };
});

export const MOVES: readonly Move[] = [
  move("gateway.chat_completions", "openai", (c) => ({ json: { model: "m", ...chatBody(c) } })),
  move("gateway.completions", "openai", (c) => ({ json: { model: "m", prompt: c.mark, ...extrasOf(c) } })),
  move("gateway.responses", "openai", (c) => ({ json: { model: "m", ...responseBody(c) } })),
  move("gateway.responses", "openai", (c) => ({ json: { model: "m", stream: true, ...responseBody(c) } })),
  move("gateway.responses", "openai", (c) => ({ json: { model: "m", store: false, ...responseBody(c) } })),
  ...inPath(
    "openai",
    ["gateway.get_response", ["response"]],
    ["gateway.delete_response", ["response"]],
    ["gateway.cancel_response", ["response"]],
  ),
  move("gateway.get_response", "openai", (c) => ({ names: [c.held("response")], query: { stream: "true" } })),
  move("gateway.list_input_items", "openai", (c) => ({
    ...{
      names: [c.held("response")],
      query: c.oneOf<() => Record<string, string>>(
        () => ({}),
        () => ({ after: c.within("item") }),
      )(),
    },
  })),
  move("gateway.create_conversation", "openai", (c) => ({
    json: {
      ...hello(c),
      items: c.oneOf<() => object[]>(
        () => [],
        () => [{ role: "user", content: contentOf(c) }],
      )(),
    },
  })),
  ...inPath(
    "openai",
    ["gateway.get_conversation", ["conversation"]],
    ["gateway.delete_conversation", ["conversation"]],
  ),
  move("gateway.update_conversation", "openai", (c) => ({ names: [c.held("conversation")], json: hello(c) })),
  move("gateway.create_items", "openai", (c) => ({
    ...{
      names: [c.held("conversation")],
      json: {
        items: [
          c.oneOf<() => object>(
            () => ({ role: "user", content: contentOf(c) }),
            () => ({ type: "item_reference", id: c.held("item") }),
          )(),
        ],
      },
    },
  })),
  move("gateway.list_items", "openai", (c) => ({
    ...{
      names: [c.held("conversation")],
      query: c.oneOf<() => Record<string, string>>(
        () => ({}),
        () => ({ after: c.within("item") }),
      )(),
    },
  })),
  move("gateway.get_item", "openai", (c) => ({ names: [c.held("conversation"), c.within("item")] })),
  move("gateway.delete_item", "openai", (c) => ({ names: [c.held("conversation"), c.within("item")] })),
  ...(["openai", "anthropic"] as const).flatMap((dialect) => [
    move("gateway.create_file", dialect, (c) => ({ form: formOf({ purpose: "batch" }, "file", fileContent(c)) })),
    ...inPath(
      dialect,
      ["gateway.get_file", ["file", "output"]],
      ["gateway.delete_file", ["file", "output"]],
      ["gateway.get_file_content", ["file", "output"]],
    ),
  ]),
  listing("gateway.list_files", "openai", { ...FORWARDS, kinds: ["file", "output"] }),
  listing("gateway.list_files", "anthropic", { limit: "limit", page: "page", kinds: ["file"] }),
  move("gateway.create_upload", "openai", (c) => ({
    json: { filename: c.mark, purpose: "user_data", bytes: 1, mime_type: "text/plain" },
  })),
  move("gateway.add_upload_part", "openai", (c) => ({ names: [c.held("upload")], form: formOf({}, "data", c.mark) })),
  move("gateway.complete_upload", "openai", (c) => ({
    names: [c.held("upload")],
    json: {
      [c.spelt("part_ids")]: [
        c.held("part"),
        ...c.oneOf<() => string[]>(
          () => [],
          () => [c.held("part")],
        )(),
      ],
    },
  })),
  ...inPath("openai", ["gateway.cancel_upload", ["upload"]]),
  move("gateway.create_batch", "openai", (c) => {
    const id = c.heldLines();
    const endpoint = c.world.lines.get(id)?.url ?? "/v1/responses";
    return { json: { input_file_id: id, endpoint, completion_window: "24h", metadata: { mark: c.mark } } };
  }),
  listing("gateway.list_batches", "openai", { ...FORWARDS, kinds: ["batch"] }),
  ...inPath("openai", ["gateway.get_batch", ["batch"]], ["gateway.cancel_batch", ["batch"]]),
  move("gateway.create_vector_store", "openai", (c) => ({
    json: {
      name: c.mark,
      ...c.oneOf<() => object>(
        () => ({}),
        () => ({ [c.spelt("file_ids")]: [c.held("file")] }),
      )(),
    },
  })),
  listing("gateway.list_vector_stores", "openai", { ...FORWARDS, kinds: ["store"] }),
  ...inPath("openai", ["gateway.get_vector_store", ["store"]], ["gateway.delete_vector_store", ["store"]]),
  move("gateway.update_vector_store", "openai", (c) => ({ names: [c.held("store")], json: { name: c.mark } })),
  move("gateway.search_vector_store", "openai", (c) => ({ names: [c.held("store")], json: { query: c.mark } })),
  move("gateway.add_to_vector_store", "openai", (c) => ({
    names: [c.held("store")],
    json: { [c.spelt("file_id")]: c.held("file") },
  })),
  move("gateway.list_files_in_vector_store", "openai", (c) => ({
    ...{
      names: [c.held("store")],
      query: c.oneOf<() => Record<string, string>>(
        () => ({}),
        () => ({ after: c.within("file") }),
      )(),
    },
  })),
  move("gateway.update_file_in_vector_store", "openai", (c) => ({
    names: [c.held("store"), c.held("file")],
    json: { attributes: { mark: c.mark } },
  })),
  ...inPath(
    "openai",
    ["gateway.get_file_in_vector_store", ["store"], ["file"]],
    ["gateway.remove_from_vector_store", ["store"], ["file"]],
    ["gateway.read_file_in_vector_store", ["store"], ["file"]],
    ["gateway.get_file_batch", ["store"], ["addition"]],
    ["gateway.cancel_file_batch", ["store"], ["addition"]],
    ["gateway.list_files_of_batch", ["store"], ["addition"]],
  ),
  move("gateway.create_file_batch", "openai", (c) => ({
    names: [c.held("store")],
    json: { [c.spelt("file_ids")]: [c.held("file"), c.held("file")], attributes: { mark: c.mark } },
  })),
  move("gateway.messages", "anthropic", (c) => ({ json: { model: "c", max_tokens: 9, ...chatBody(c) } })),
  move("gateway.count_message_tokens", "anthropic", (c) => ({ json: { model: "c", ...chatBody(c) } })),
  move("gateway.create_message_batch", "anthropic", (c) => ({
    json: {
      requests: [0, 1].map((at) => ({ custom_id: `r${at}`, params: { model: "c", max_tokens: 9, ...chatBody(c) } })),
    },
  })),
  listing("gateway.list_message_batches", "anthropic", { limit: "limit", after: "after_id", kinds: ["batch"] }),
  ...inPath(
    "anthropic",
    ["gateway.get_message_batch", ["batch"]],
    ["gateway.cancel_message_batch", ["batch"]],
    ["gateway.delete_message_batch", ["batch"]],
    ["gateway.get_batch_results", ["batch"]],
  ),
  ...(["gateway.generate_content", "gateway.stream_generate_content", "gateway.count_tokens"] as const).map(
    (operation) => move(operation, "gemini", (c) => ({ json: generateBody(c) })),
  ),
  move("gateway.embed_content", "gemini", (c) => ({ json: { content: contentsOf(c) } })),
  move("gateway.batch_embed_contents", "gemini", (c) => ({
    json: { requests: [{ model: "models/g", content: contentsOf(c) }] },
  })),
  move("gateway.upload_gemini_file", "gemini", (c) => ({ json: { file: { displayName: c.mark } }, headers: START })),
  move("gateway.upload_gemini_file", "gemini", (c) => {
    c.isRefused = true;
    return { json: { file: { name: `files/${c.within("file")}` } }, headers: START };
  }),
  GEMINI_FILE,
  listing("gateway.list_gemini_files", "gemini", { limit: "pageSize", page: "pageToken", kinds: ["file", "output"] }),
  ...inPath(
    "gemini",
    ["gateway.get_gemini_file", ["file", "output"]],
    ["gateway.delete_gemini_file", ["file", "output"]],
    ["gateway.download_gemini_file", ["file", "output"]],
  ),
  move("gateway.create_cached_content", "gemini", (c) => ({
    json: { model: "models/g", contents: [contentsOf(c)], ttl: "600s" },
  })),
  listing("gateway.list_cached_contents", "gemini", { limit: "pageSize", page: "pageToken", kinds: ["cache"] }),
  ...inPath("gemini", ["gateway.get_cached_content", ["cache"]], ["gateway.delete_cached_content", ["cache"]]),
  move("gateway.update_cached_content", "gemini", (c) => ({ names: [c.held("cache")], json: { ttl: "600s" } })),
  move("gateway.batch_generate_content", "gemini", (c) => {
    const requests = () => ({ requests: { requests: [{ request: generateBody(c), metadata: { key: "1" } }] } });
    const inputConfig = c.oneOf<() => object>(requests, () => ({ fileName: `files/${c.heldLines()}` }))();
    return { json: { batch: { displayName: c.mark, inputConfig } } };
  }),
  move("gateway.async_batch_embed_content", "gemini", (c) => ({
    json: {
      batch: {
        displayName: c.mark,
        inputConfig: { requests: { requests: [{ request: { content: contentsOf(c) } }] } },
      },
    },
  })),
  listing("gateway.list_gemini_batches", "gemini", { limit: "pageSize", page: "pageToken", kinds: ["batch"] }),
  ...inPath(
    "gemini",
    ["gateway.get_gemini_batch", ["batch"]],
    ["gateway.cancel_gemini_batch", ["batch"]],
    ["gateway.delete_gemini_batch", ["batch"]],
  ),
];

/** Operations of which some need several others before them: these are played more often. */
const OFTEN: ReadonlySet<ServedOperation> = new Set([
  ...(["gateway.create_file", "gateway.get_file_content", "gateway.create_batch", "gateway.get_batch"] as const),
  ...(["gateway.upload_gemini_file", "gateway.batch_generate_content", "gateway.get_gemini_batch"] as const),
  ...(["gateway.download_gemini_file", "gateway.responses", "gateway.list_gemini_files"] as const),
  ...(["gateway.list_cached_contents", "gateway.list_gemini_batches"] as const),
]);

/** Moves, as often as they are to be played. */
export const DRAWN_MOVES = [
  ...MOVES,
  ...[0, 1, 2].flatMap(() => MOVES.filter(({ operation }) => OFTEN.has(operation))),
];

/** Moves that make an object of a kind, by format. */
const MAKERS: Readonly<Partial<Record<`${Dialect} ${KeptKind}`, ServedOperation>>> = {
  ...{
    "openai response": "gateway.responses",
    "openai item": "gateway.responses",
    "openai conversation": "gateway.create_conversation",
  },
  ...{
    "openai file": "gateway.create_file",
    "openai upload": "gateway.create_upload",
    "openai part": "gateway.add_upload_part",
  },
  ...{
    "openai batch": "gateway.create_batch",
    "openai store": "gateway.create_vector_store",
    "openai addition": "gateway.create_file_batch",
  },
  ...{ "anthropic file": "gateway.create_file", "anthropic batch": "gateway.create_message_batch" },
  ...{
    "gemini session": "gateway.upload_gemini_file",
    "gemini cache": "gateway.create_cached_content",
    "gemini batch": "gateway.batch_generate_content",
  },
};

/** Returns the move that makes an object of a kind; it may lack others. */
export function makerOf(dialect: Dialect, kind: KeptKind): Move | undefined {
  if (dialect === "gemini" && kind === "file") return GEMINI_FILE;
  return MOVES.find((one) => one.operation === MAKERS[`${dialect} ${kind}`] && one.dialect === dialect);
}
