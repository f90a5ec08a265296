/** Types for the parts of OpenAPI 3.1 that the document has. */

/** JSON Schema, as far as the document uses it. A schema with a title is described once, under that name. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
};

export type Header = {
  readonly description: string;
  /** True if every answer of this kind has it. */
  readonly required: boolean;
  readonly schema: JsonSchema;
};

/** Bodies by their media type. */
export type MediaTypes = Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;

/** Response with a status. */
export type ResponseObject = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: MediaTypes;
  /** Codes that a refusal may have. */
  readonly "x-problem-codes"?: readonly string[];
};

export type Operation = {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: MediaTypes };
  /** Responses by status; `default` for other answers of an upstream. */
  readonly responses: Readonly<Record<string, ResponseObject>>;
  /** Alternatives, each with all credentials that it needs. No credential is needed if there are none. */
  readonly security: readonly Readonly<Record<string, readonly []>>[];
};

/** Operations by their path, and by their method in lower case. */
export type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

export type SecurityScheme = {
  readonly type: "http" | "apiKey";
  readonly scheme?: "bearer";
  readonly in?: "header" | "query" | "cookie";
  readonly name?: string;
  readonly description: string;
};

export type OpenApiDocument = {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  };
};

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null;
}
