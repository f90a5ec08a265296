import type { ProblemCode } from "../http/problems/catalogue.ts";
import type { JsonSchema, OpenApiDocument, Paths } from "./format.ts";

type Schema = JsonSchema & { readonly title: string };

/** What a route says of itself besides the schemas of what it takes. */
export type RouteDocs = {
  readonly summary: string;
  /** Of a success; 200 where it is left out. */
  readonly status?: number;
  /** The body of its response; none where it is left out. A named one is described once. */
  readonly response?: Schema;
  /** Of the response's body; JSON where it is left out. */
  readonly mediaType?: string;
  /** A body that it takes. */
  readonly example?: unknown;
  /** What it refuses with besides what its access, its parameters and its body bring with them. */
  readonly refusals?: readonly ProblemCode[];
  readonly ifMatch?: "required" | "optional";
  /** Whether it answers with the entity tag of an object that is not changed by it. */
  readonly etag?: true;
  /**
   * Whether it may be repeated with an Idempotency-Key: then it is answered as the first time, with the entity tag and
   * the place of the object; or with 200 and this body.
   */
  readonly idempotent?: true | { readonly replay: Schema };
};

declare module "fastify" {
  interface FastifyInstance {
    /** What all routes say of themselves, once the server is ready. */
    describeApi(): OpenApiDocument;
  }
  interface FastifyContextConfig {
    docs?: RouteDocs;
    /** Of a route that stands for several operations, or speaks another form than the rest: all of it, by path. */
    describes?: Paths;
  }
}
