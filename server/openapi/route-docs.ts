import type { ProblemCode } from "../http/problems/catalogue.ts";
import type { JsonSchema, OpenApiDocument, Paths } from "./format.ts";

type Schema = JsonSchema & { readonly title: string };

/** Description of a route besides the schemas of its input. */
export type RouteDocs = {
  readonly summary: string;
  /** Status of a success; 200 by default. */
  readonly status?: number;
  /** Schema of the response's body; none by default. A schema with a title is described once. */
  readonly response?: Schema;
  /** Media type of the response's body; JSON by default. */
  readonly mediaType?: string;
  /** Example of a request body. */
  readonly example?: unknown;
  /** Codes of its refusals besides those that its access, its parameters and its body imply. */
  readonly refusals?: readonly ProblemCode[];
  readonly ifMatch?: "required" | "optional";
  /** True if it answers with the entity tag of an object that it does not change. */
  readonly etag?: true;
  /**
   * Set if it may be repeated with an Idempotency-Key. With `true` a repetition is answered like the first time, with
   * the entity tag and the location of the object; with `receipt` likewise without these; with `replay` it is answered
   * 200 and this body.
   */
  readonly idempotent?: true | "receipt" | { readonly replay: Schema };
};

declare module "fastify" {
  interface FastifyInstance {
    /** Returns the document of all routes, once the server is ready. */
    describeApi(): OpenApiDocument;
  }
  interface FastifyContextConfig {
    docs?: RouteDocs;
    /**
     * Returns whole descriptions by path, for a route that stands for several operations, or whose form differs from the
     * rest. Called when the document is first requested.
     */
    describes?: () => Paths;
  }
}
