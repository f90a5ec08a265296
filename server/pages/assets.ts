import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { FastifyInstance } from "fastify";
import { sendShared } from "../http/answers/cached-text.ts";
import { problem } from "../http/problems/problem.ts";
import { codingFor, type EncodedAsset, encodedAsset } from "./encoded-asset.ts";
import { consoleSheet } from "./sheet.ts";

/** File that pages refer to. Its name changes with its content, so that it may be cached for ever. */
type Asset = { readonly name: string; readonly type: string; readonly content: EncodedAsset };

const HTMX = createRequire(import.meta.url).resolve("htmx.org/dist/htmx.min.js");

const ASSETS = {
  styles: asset("console.css", "text/css; charset=utf-8", Buffer.from(consoleSheet())),
  script: asset("console.js", "text/javascript; charset=utf-8", ours("console.js")),
  htmx: asset("htmx.js", "text/javascript; charset=utf-8", readFileSync(HTMX)),
  icon: asset("icon.svg", "image/svg+xml", ours("icon.svg")),
} as const;

const BY_NAME: ReadonlyMap<string, Asset> = new Map(Object.values(ASSETS).map((asset) => [asset.name, asset]));

/** Route pattern of the files, which need no session. */
export const ASSETS_ROUTE = "/dashboard/assets/:name";

/** Returns the URL of a file for pages. */
export function assetUrl(asset: keyof typeof ASSETS): string {
  return ASSETS_ROUTE.replace(":name", ASSETS[asset].name);
}

export function assetRoutes(app: FastifyInstance): void {
  app.get<{ Params: { name: string } }>("/assets/:name", { config: { public: true } }, async (request, reply) => {
    const found = BY_NAME.get(request.params.name);
    if (found === undefined) throw problem("not_found");
    const coding = codingFor(request.headers["accept-encoding"]);
    reply.type(found.type).headers({ "cache-control": "public, max-age=31536000, immutable", vary: "accept-encoding" });
    if (coding !== "identity") reply.header("content-encoding", coding);
    return sendShared(reply, await found.content[coding]());
  });
}

function ours(file: string): Buffer {
  return readFileSync(new URL(`assets/${file}`, import.meta.url));
}

function asset(file: string, type: string, content: Buffer): Asset {
  const hash = createHash("sha256").update(content).digest("base64url").slice(0, 16);
  const dot = file.lastIndexOf(".");
  return { name: `${file.slice(0, dot)}-${hash}${file.slice(dot)}`, type, content: encodedAsset(content) };
}
