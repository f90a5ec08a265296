import { request } from "node:http";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { networkFault } from "../../../domain/access/source-addresses.ts";
import type { OpenApiDocument, Operation, ResponseObject } from "../../../server/openapi/format.ts";

/** An operation with what it is called by: `GET /atoms`. */
export type Described = {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
};

/** A request to an operation. */
export type Call = {
  readonly method: string;
  /** The target, with what stands for the path's parameters. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Bytes of a body that are announced, and never sent. */
  readonly announced?: number;
};

export type Answered = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
};

export function operationsOf({ paths }: OpenApiDocument): Described[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([verb, operation]) => {
      const method = verb.toUpperCase();
      return { name: `${method} ${path}`, method, path, operation };
    }),
  );
}

/** Every code that an operation is said to refuse with. */
export function codesOf({ responses }: Operation): string[] {
  return Object.values(responses).flatMap((answer) => answer["x-problem-codes"] ?? []);
}

/** Sends a request as it stands: with headers that a fetch would not take. */
export function send(url: string, { method, path, headers, body, announced }: Call): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const length = announced ?? (body === undefined ? 0 : Buffer.byteLength(body));
    const sent = request(`${url}${path}`, { method, agent: false, headers: { ...headers, "content-length": length } });
    sent.on("error", reject);
    sent.on("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece: string) => {
        text += piece;
      });
      answer.on("error", reject);
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    if (announced === undefined) sent.end(body);
    else sent.flushHeaders();
  });
}

/** By which a schema of the document, taken by itself, refers to the document. */
const DOCUMENT = "urn:keyplane:description";

/** Says what is wrong with answers, by what the document says of their operations. */
export class Judge {
  readonly #ajv = new Ajv2020({
    ...{ strict: true, allowUnionTypes: true, strictTypes: false, validateFormats: true },
    // A schema is asked a few times: to make its code quick takes longer than to run it.
    ...{ inlineRefs: false, code: { optimize: false } },
  });
  /** By the schema's text: most refusals of an operation are those of another one too. */
  readonly #compiled = new Map<string, ValidateFunction>();
  readonly #known = new WeakMap<object, ValidateFunction>();

  constructor({ components }: OpenApiDocument) {
    formats.default(this.#ajv, ["date-time", "int32", "int64"]);
    this.#ajv.addFormat("cidr", (text: string) => networkFault(text) === undefined);
    this.#ajv.addVocabulary(["components", "example"]);
    this.#ajv.addSchema({ $id: DOCUMENT, components });
  }

  /** A schema of the document, ready to be asked. Throws for one that is unsound. */
  compile(schema: object): ValidateFunction {
    const known = this.#known.get(schema) ?? this.#compileText(schema);
    this.#known.set(schema, known);
    return known;
  }

  #compileText(schema: object): ValidateFunction {
    const whole = JSON.stringify(schema).replaceAll('"#/components/', `"${DOCUMENT}#/components/`);
    const compiled = this.#compiled.get(whole) ?? this.#ajv.compile(JSON.parse(whole));
    this.#compiled.set(whole, compiled);
    return compiled;
  }

  /** What an answer has that was not said, or lacks that was; nothing where it is as described. */
  faultsOf({ operation }: Described, { status, headers, text }: Answered): string[] {
    const said = operation.responses[status];
    if (said === undefined) return operation.responses.default ? [] : [`status ${status} is not described: ${text}`];
    return [...this.#headerFaults(said, headers), ...this.#bodyFaults(said, headers, text)];
  }

  #headerFaults({ headers: described = {} }: ResponseObject, headers: Answered["headers"]): string[] {
    return Object.entries(described).flatMap(([name, { required, schema }]) => {
      const value = headers[name.toLowerCase()];
      if (value === undefined) return required ? [`there is no header ${name}`] : [];
      return this.compile(schema)(value) ? [] : [`the header ${name} is ${value}`];
    });
  }

  #bodyFaults({ content }: ResponseObject, headers: Answered["headers"], text: string): string[] {
    const type = String(headers["content-type"] ?? "").split(";")[0] ?? "";
    if (content === undefined) return text === "" ? [] : [`there is a body: ${text}`];
    const media = content[type];
    if (media === undefined) return [`the body is ${type}, not ${Object.keys(content)}`];
    const validate = this.compile(media.schema);
    const body: unknown = /[/+]json$/.test(type) ? JSON.parse(text) : text;
    return validate(body) ? [] : [`${this.#ajv.errorsText(validate.errors)}: ${text}`];
  }
}

export type Description = {
  readonly document: OpenApiDocument;
  readonly operations: readonly Described[];
  readonly judge: Judge;
};

/** By their texts: most servers have the same one, and to compile its schemas takes longer than to ask by it. */
const known = new Map<string, Description>();

/** What the text of a description says. */
export function descriptionOf(text: string): Description {
  const before = known.get(text);
  if (before !== undefined) return before;
  const document: OpenApiDocument = JSON.parse(text);
  const description = { document, operations: operationsOf(document), judge: new Judge(document) };
  known.set(text, description);
  return description;
}

/** The code of a refusal, in whatever form it comes; undefined where it has none. */
export function codeOf(text: string): string | undefined {
  const { code, error }: { code?: unknown; error?: { code?: unknown; message?: unknown } } = JSON.parse(text);
  const coded = [code, error?.code, /^(\w+): /.exec(String(error?.message))?.[1]];
  return coded.find((one) => typeof one === "string");
}
