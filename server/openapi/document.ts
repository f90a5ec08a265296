import type { FastifyInstance } from "fastify";
import type { ServerConfig } from "../context/config.ts";
import { OPENAPI_TAGS } from "./areas.ts";
import { describeRoute, templateOf } from "./describe-route.ts";
import { isSchema, type JsonSchema, type OpenApiDocument, type Operation, type Paths } from "./format.ts";
import "./route-docs.ts";
import { securitySchemes } from "./security.ts";
import { withSingleTypes } from "./single-types.ts";

/**
 * Collects the descriptions of the routes that are registered from here on.
 *
 * @returns function that returns the OpenAPI 3.1 document of all of them
 */
export function collectDocs(
  app: FastifyInstance,
  config: Pick<ServerConfig, "vendorHeader" | "publicUrl" | "tls">,
): () => OpenApiDocument {
  // Described only when the document is requested, to keep the start of a server short.
  const described: (() => Paths)[] = [];
  app.addHook("onRoute", (route) => {
    const { docs, describes } = route.config ?? {};
    if (describes !== undefined) described.push(describes);
    if (docs === undefined) return;
    for (const method of [route.method].flat()) {
      described.push(() => ({
        [templateOf(route.url)]: { [method.toLowerCase()]: describeRoute(route, docs, method) },
      }));
    }
  });
  let document: OpenApiDocument | undefined;
  function describe(): OpenApiDocument {
    const paths: Record<string, Record<string, Operation>> = {};
    const schemas = new NamedSchemas();
    for (const [path, methods] of described.flatMap((of) => Object.entries(of()))) {
      for (const [method, operation] of Object.entries(methods))
        paths[path] = { ...paths[path], [method]: schemas.refer(operation) };
    }
    return {
      openapi: "3.1.0",
      info: { title: "Keyplane", version: "v1", ...INFO },
      servers: [{ url: "/", description: "This server." }],
      tags: OPENAPI_TAGS,
      paths,
      components: { schemas: schemas.all(), securitySchemes: securitySchemes(config) },
    };
  }
  return () => {
    document ??= describe();
    return document;
  };
}

const INFO = {
  summary: "Keys of an AI platform: their management, and the memory and the models that they open.",
  description:
    "Of several carriers of a key the first that is there applies, whatever it holds. Every refusal has a code and says what to do. Besides those that an operation names, any request is refused that is no HTTP/1.1 as RFC 9112 has it (400), whose head is longer than 16 KiB (431), or by a method that its path does not have (405).",
} as const;

/** Schemas with a title: each is described once, and referred to by its title. */
class NamedSchemas {
  readonly #named = new Map<string, { readonly source: string; readonly schema: JsonSchema }>();

  all(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#named].map(([title, { schema }]) => [title, schema]));
  }

  /**
   * Returns the operation with a single type in each position, and with references in place of the schemas with a
   * title.
   */
  refer(operation: Operation): Operation {
    // References stand where schemas stood.
    return this.#refer(withSingleTypes(operation)) as Operation;
  }

  #refer(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#refer(item));
    if (!isSchema(value)) return value;
    const { title } = value;
    if (typeof title !== "string") return this.#parts(value);
    const source = JSON.stringify(value);
    const known = this.#named.get(title);
    if (known === undefined) this.#named.set(title, { source, schema: this.#parts(value) });
    else if (known.source !== source) throw new Error(`two schemas have the title ${title}`);
    return { $ref: `#/components/schemas/${title}` };
  }

  #parts(value: JsonSchema): JsonSchema {
    const parts = Object.entries(value).map(([name, part]) => [name, name === "example" ? part : this.#refer(part)]);
    return Object.fromEntries(parts);
  }
}
