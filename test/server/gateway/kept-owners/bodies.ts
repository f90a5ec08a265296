/** Bodies and paths of calls, with what they name at the places that their formats have for it. */
import type { KeptKind, ServedOperation } from "../../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../../domain/access/key-record.ts";
import { type Choice, type Move, move } from "./choice.ts";

/** Returns calls that name objects in their paths alone. */
export function inPath(
  dialect: Dialect,
  ...calls: readonly (readonly [ServedOperation, ...(readonly (readonly [KeptKind, ...KeptKind[]])[])])[]
): Move[] {
  return calls.map(([operation, ...kinds]) =>
    move(operation, dialect, (c) => ({ names: kinds.map((each) => c.held(...each)) })),
  );
}

/** Returns the content of a message of OpenAI's that may name files. */
export function contentOf(c: Choice): unknown {
  const text = { type: "text", text: c.mark };
  return c.oneOf<() => unknown>(
    () => text.text,
    () => [text, { type: "file", file: { [c.spelt("file_id")]: c.held("file") } }],
    () => [text, { type: "input_file", [c.spelt("file_id")]: c.held("file") }],
    () => [text, { type: "document", source: { type: "file", [c.spelt("file_id")]: c.held("file") } }],
  )();
}

/** Returns members of a body that may name a file, or a vector store, in another place than a message. */
export function extrasOf(c: Choice): object {
  if (c.dialect !== "openai") return {};
  return c.oneOf<() => object>(
    () => ({}),
    () => ({}),
    () => ({ tools: [{ type: "file_search", [c.spelt("vector_store_ids")]: [c.held("store")] }] }),
    () => ({
      tools: [{ type: "code_interpreter", container: { [c.spelt("file_ids")]: [c.held("file"), c.held("file")] } }],
    }),
    // Not `extra_body`, in whose place a line may have another.
    () => ({ vendor: { any: { [c.spelt("file_id")]: c.held("file") } } }),
  )();
}

export function chatBody(c: Choice): object {
  return { messages: [{ role: "user", content: contentOf(c) }], ...extrasOf(c) };
}

export function responseBody(c: Choice): object {
  const to = c.oneOf<() => object>(
    () => ({}),
    () => ({}),
    () => ({ [c.spelt("previous_response_id")]: c.held("response") }),
    () => ({ provider_options: { any: { [c.spelt("previous_response_id")]: c.held("response") } } }),
    () => ({ prompt_cache_options: { [c.spelt("comparison_response_id")]: c.held("response") } }),
    () => ({
      conversation: c.oneOf<(id: string) => unknown>(
        (id) => id,
        (id) => ({ id }),
      )(c.held("conversation")),
    }),
  )();
  const items = c.oneOf<() => readonly object[]>(
    () => [],
    () => [{ type: "item_reference", id: c.held("item") }],
    () => [{ id: c.held("item") }],
  )();
  const input = [...items, { role: "user", content: contentOf(c) }];
  return { input, ...to, ...extrasOf(c) };
}

export function contentsOf(c: Choice): object {
  const text = { text: c.mark };
  const uri = (id: string) => c.oneOf(`files/${id}`, `https://generativelanguage.googleapis.com/v1beta/files/${id}`);
  const named = c.oneOf<() => object[]>(
    () => [],
    () => [{ [c.oneOf("fileData", "file_data")]: { [c.oneOf("fileUri", "file_uri")]: uri(c.held("file")) } }],
  )();
  return { role: "user", parts: [text, ...named] };
}

export function generateBody(c: Choice): object {
  const cache = c.oneOf<() => object>(
    () => ({}),
    () => ({ [c.oneOf("cachedContent", "cached_content")]: `cachedContents/${c.held("cache")}` }),
  )();
  return { contents: [contentsOf(c)], ...cache };
}

export function formOf(fields: Readonly<Record<string, string>>, file: string, content: string): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set(file, new Blob([content]), "a.txt");
  return form;
}

function fileIn(c: Choice): object {
  return c.below(2) === 0 ? {} : { extra_body: { [c.spelt("file_id")]: c.held("file") } };
}

/** Returns the lines of a file for a batch of OpenAI's, or any content. */
export function fileContent(c: Choice): string {
  if (c.below(3) === 2) return c.mark;
  const [url, body] = c.oneOf<readonly [string, (c: Choice) => object]>(
    ["/v1/responses", responseBody],
    ["/v1/chat/completions", chatBody],
  );
  return c.inLines(url, () => ({
    custom_id: "1",
    method: "POST",
    url,
    body: { model: "m", ...body(c), ...fileIn(c) },
  }));
}

export function listing(
  operation: ServedOperation,
  dialect: Dialect,
  names: {
    readonly limit: string;
    readonly after?: string;
    readonly page?: string;
    readonly kinds: readonly [KeptKind, ...KeptKind[]];
  },
): Move {
  return move(operation, dialect, (c) => {
    const size = 1 + c.below(2);
    const query: Record<string, string> = { [names.limit]: String(size) };
    const dice = c.below(4);
    if (dice === 1 && names.after !== undefined) query[names.after] = c.held(...names.kinds);
    const pages = c.world.pages.filter((page) => page.operation === operation);
    const page = dice > 1 && names.page !== undefined ? pages[c.below(1_000) % Math.max(1, pages.length)] : undefined;
    if (page !== undefined && names.page !== undefined) query[names.page] = page.token;
    if (page !== undefined && page.team !== c.team) c.isRefused = true;
    if (Object.keys(query).length === 1) c.listed = names.kinds;
    return { query };
  });
}
