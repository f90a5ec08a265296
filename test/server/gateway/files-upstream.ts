import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type Received, startUpstream } from "./upstream.ts";

type StoredFile = { readonly id: string; readonly name: string; readonly content: Buffer };

const idOf = (prefix: string) => `${prefix}_${randomBytes(12).toString("hex")}`;

/**
 * An upstream that keeps files as OpenAI's and Anthropic's published descriptions say, for every caller with its
 * credential: it tells no teams apart. Anthropic's lists name pages by tokens in which ids stand.
 */
export async function startFilesUpstream() {
  const files = new Map<string, StoredFile>();
  const uploads = new Map<string, Map<string, Buffer>>();
  const send = (response: ServerResponse, body: object, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const missing = (response: ServerResponse) => send(response, { error: { message: "No such object" } }, 404);

  function shown({ id, name, content }: StoredFile, isAnthropic: boolean) {
    return isAnthropic
      ? { id, type: "file", filename: name, mime_type: "text/plain", size_bytes: content.length, created_at: "x" }
      : { id, object: "file", filename: name, bytes: content.length, created_at: 1, purpose: "user_data" };
  }

  function keep(name: string, content: Buffer): StoredFile {
    const file = { id: idOf("file"), name, content };
    files.set(file.id, file);
    return file;
  }

  function list(response: ServerResponse, query: URLSearchParams, isAnthropic: boolean): void {
    const ids = query.getAll("ids[]").concat(query.getAll("ids"));
    if (ids.length > 0 && (query.has("limit") || query.has("page"))) {
      send(response, { error: { message: "`ids` excludes `limit` and `page`" } }, 400);
      return;
    }
    const all = [...files.values()].filter(({ id }) => ids.length === 0 || ids.includes(id));
    const token = query.get("page");
    const after = token === null ? query.get("after") : Buffer.from(token, "base64url").toString();
    const found = all.findIndex(({ id }) => id === after);
    if (after !== null && found === -1) {
      missing(response);
      return;
    }
    const from = found + 1;
    const page = all.slice(from, from + Number(query.get("limit") ?? (ids.length > 0 ? 100 : 20)));
    const hasMore = from + page.length < all.length;
    const data = page.map((file) => shown(file, isAnthropic));
    const last = page.at(-1)?.id ?? "";
    if (isAnthropic) send(response, { data, next_page: hasMore ? Buffer.from(last).toString("base64url") : null });
    else send(response, { object: "list", data, first_id: data[0]?.id, last_id: last, has_more: hasMore });
  }

  function ofFiles(
    response: ServerResponse,
    { method, body, headers }: Received,
    [id, part]: readonly string[],
    query: URLSearchParams,
  ): void {
    const isAnthropic = headers["anthropic-version"] !== undefined;
    if (id === undefined) {
      const name = /filename="([^"]*)"/.exec(body.toString("latin1"))?.[1] ?? "none";
      if (method === "GET") list(response, query, isAnthropic);
      else send(response, shown(keep(name, body), isAnthropic));
      return;
    }
    const file = files.get(id);
    if (file === undefined) return void missing(response);
    if (part === "content") response.writeHead(200, { "content-type": "text/html" }).end(file.content);
    else if (method === "DELETE") {
      files.delete(id);
      send(response, isAnthropic ? { id, type: "file_deleted" } : { id, object: "file", deleted: true });
    } else send(response, shown(file, isAnthropic));
  }

  function ofUploads(response: ServerResponse, { body }: Received, [id, action]: readonly string[]): void {
    const expires = Math.floor(Date.now() / 1_000) + 3_600;
    const show = (upload: string, status: string, more = {}) => ({
      ...{ id: upload, object: "upload", status, bytes: 1, created_at: 1, expires_at: expires },
      ...{ filename: "f", purpose: "user_data", ...more },
    });
    if (id === undefined) {
      const upload = idOf("upload");
      uploads.set(upload, new Map());
      return void send(response, show(upload, "pending"));
    }
    const parts = uploads.get(id);
    if (parts === undefined) return void missing(response);
    if (action === "cancel") return void send(response, show(id, "cancelled"));
    if (action === "parts") {
      const part = idOf("part");
      parts.set(part, body);
      return void send(response, { id: part, object: "upload.part", created_at: 1, upload_id: id });
    }
    const { part_ids: named }: { part_ids: string[] } = JSON.parse(body.toString());
    const file = keep("f", Buffer.concat(named.map((part) => parts.get(part) ?? Buffer.alloc(0))));
    send(response, show(id, "completed", { file: shown(file, false) }));
  }

  const respond = (response: ServerResponse, received: Received): void => {
    const { pathname, searchParams } = new URL(received.url, "http://upstream");
    const [, , collection, ...path] = pathname.split("/").map(decodeURIComponent);
    if (collection === "files") ofFiles(response, received, path, searchParams);
    else if (collection === "uploads") ofUploads(response, received, path);
    else send(response, { id: "answer", usage: {} });
  };
  const upstream = await startUpstream(respond);
  return { ...upstream, files, keep, respond, close: () => upstream.close() };
}
