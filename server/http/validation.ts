import { Ajv, type Options, type ValidateFunction } from "ajv";
import type { FastifyInstance, preValidationHookHandler } from "fastify";
import { problem } from "./problems/problem.ts";
import { describeSchemaError } from "./schema-error.ts";

const NAMES: Readonly<Record<string, string>> = { body: "The body", querystring: "The query", params: "The path" };

const compileExact = compiler({});
const compileText = compiler({ coerceTypes: true });

/**
 * Returns a function that compiles each schema once, however many plugins and servers of the process use it. Tests
 * check the schemas themselves: to compile the schema of schemas takes longer than to compile many of them. To shorten
 * a validator's text takes about as long as all else of it, and V8 runs the longer text as quickly.
 */
function compiler(options: Options): (schema: object) => ValidateFunction {
  const ours: Options = {
    strict: true,
    validateSchema: false,
    allowUnionTypes: true,
    verbose: true,
    useDefaults: true,
    code: { optimize: false },
  };
  const ajv = new Ajv({ ...ours, ...options });
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(schema);
    const known = compiled.get(text) ?? ajv.compile(schema);
    compiled.set(text, known);
    return known;
  };
}

/**
 * Compiles the schema of input that arrives as text. Validates it again after its numbers were converted: while Ajv
 * converts, it applies no bound to a number that is not finite, such as 1e400.
 */
function compileQuery(schema: object) {
  const validate = compileText(schema);
  return (data: unknown) => (validate(data) && validate(data)) || { error: validate.errors ?? [] };
}

/**
 * Returns a schema that accepts any `spec`: the declarations' own validator checks it, and names every fault and what
 * to write.
 */
function withoutSpec(schema: object): object {
  if (!("properties" in schema) || typeof schema.properties !== "object" || schema.properties === null) return schema;
  return "spec" in schema.properties
    ? { ...schema, properties: { ...schema.properties, spec: { type: "object" } } }
    : schema;
}

/**
 * Refuses a query that is not UTF-8 in percent-encoding: the framework takes what it cannot decode for the text that
 * was meant, such as `%E9`.
 */
const refuseUnreadableQuery: preValidationHookHandler = ({ raw: { url = "" } }, _reply, done) => {
  try {
    decodeURIComponent(url.slice(url.indexOf("?") + 1));
    done();
  } catch {
    done(
      problem("invalid_request", "The query cannot be read: write it in UTF-8, percent-encoded, a % itself as %25."),
    );
  }
};

/**
 * Has the routes of a plugin validate their input strictly: nothing is removed or guessed, except that numbers in a
 * query, which arrive as text, are converted. Unknown fields are an error if a schema says so (threats b59).
 */
export function validateStrictly(app: FastifyInstance): void {
  app.addHook("preValidation", refuseUnreadableQuery);
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === "body" ? compileExact(withoutSpec(schema)) : compileQuery(schema),
  );
  app.setSchemaErrorFormatter((faults, part) => {
    const [fault] = faults;
    return problem("invalid_request", describeSchemaError(fault, NAMES[part] ?? "The request"));
  });
}
