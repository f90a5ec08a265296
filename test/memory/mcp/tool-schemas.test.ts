import { Ajv, type ValidateFunction } from "ajv";
import { beforeEach, describe, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { type ToolContext, ToolFault } from "../../../memory/mcp/definition/tool.ts";
import { TOOLS } from "../../../memory/mcp/protocol/server.ts";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { memoryServer } from "../memory-server.ts";
import { callAs, ERAS, type Era, type ToolReply } from "./messages.ts";

type Schema = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, Schema>>;

// The tools check formats by themselves.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, validateFormats: false });

/** Where a schema has several types in one place: some models' interfaces have no word for that, and lose the tool. */
function unionsIn(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  const here = "type" in value && Array.isArray(value.type) ? [path] : [];
  return [...here, ...Object.entries(value).flatMap(([name, inner]) => unionsIn(inner, `${path}.${name}`))];
}

/** Where a schema says of no type that a value is: Gemini's interface then refuses all tools that it is given. */
function untypedIn({ type, anyOf, properties, items, additionalProperties }: Schema, path: string): string[] {
  const inner: [string, unknown][] = [
    ...Object.entries((properties ?? {}) as Fields),
    ...Object.entries((anyOf ?? []) as readonly Schema[]),
    ["[]", items],
    ["*", additionalProperties],
  ];
  return [
    ...(type === undefined && anyOf === undefined ? [path] : []),
    ...inner.flatMap(([name, value]) =>
      typeof value === "object" && value !== null ? untypedIn({ ...value }, `${path}.${name}`) : [],
    ),
  ];
}

/** Every tool there is, with its two schemas. */
const tools = [...TOOLS].map(([name, { definition }]) => {
  const input = definition.inputSchema as { properties: Fields; required: readonly string[] };
  return { name, fields: input.properties, required: input.required, output: definition.outputSchema as Schema };
});

const opened = memoryServer(mcpRoutes);
/** An atom that is there, where a server is asked. */
let id = "019ab2c4-5d6e-7f80-91a2-b3c4d5e6f708";

const call = (era: Era, name: unknown, args: unknown) =>
  callAs(
    era,
    { url: opened().server.url, key: opened().key },
    name,
    typeof args === "string" ? args : JSON.stringify(args),
  );

/** What a tool says to a model that has to do something else: never that it is us who failed. */
function faultOf({ status, result }: ToolReply, what: string): string {
  expect([status, result?.isError], what).toEqual([200, true]);
  const text = result?.content[0]?.text ?? "";
  expect(text, what).toMatch(/\.$/);
  expect(text, what).not.toContain("failed here");
  return text;
}

test.each([...TOOLS.values()])("$definition.name has one type in each place of its schemas", ({ definition }) => {
  expect(unionsIn({ input: definition.inputSchema, output: definition.outputSchema })).toEqual([]);
  expect(untypedIn({ ...definition.inputSchema }, "input")).toEqual([]);
  expect(untypedIn({ ...definition.outputSchema }, "output")).toEqual([]);
});

/** What a tool says of arguments that it does not take: it looks at nothing else. */
async function saidOf(name: string, args: unknown): Promise<string> {
  const untouched = new Proxy({} as ToolContext, {
    get(_target, member) {
      throw new Error(`${name} asked for ${String(member)}`);
    },
  });
  const fault: unknown = await TOOLS.get(name)
    ?.call(untouched, args)
    .catch((error: unknown) => error);
  expect(fault, JSON.stringify(args).slice(0, 200)).toBeInstanceOf(ToolFault);
  return (fault as ToolFault).message;
}

test.each(tools)(
  "$name names the argument that is wrong, and what would be right",
  async ({ name, fields, required }) => {
    const least = validOf(required, fields);
    for (const [field, schema] of Object.entries(fields)) {
      for (const wrong of wrongOf(field, schema, required)) {
        const fault = await saidOf(name, { ...least, [field]: wrong });
        expect(fault).toContain(`${name}'s "${field}`);
        expect(fault).toMatch(/\.$/);
      }
    }
  },
);

test.each(tools)("$name takes no argument that it does not know", async ({ name, fields, required }) => {
  const least = validOf(required, fields);
  for (const field of ["constructor", "prototype", "toString", "hasOwnProperty", "an argument", "x".repeat(10_000)]) {
    expect(await saidOf(name, { ...least, [field]: "x" })).toContain(`It takes ${Object.keys(fields).join(", ")}.`);
  }
});

/** By day each tool in one era, by night in each: what differs between them is around the tools. */
const toolsOf = (era: Era) => tools.filter((_, at) => NIGHTLY || ERAS[at % ERAS.length] === era);

describe.each(ERAS)("the tools, in the era of %s", (era) => {
  beforeEach(async () => {
    const { result } = await call("2025-11-25", "memory_save_atom", { content: "Deployments roll out on Tuesdays." });
    id = /\bid ([\w-]+)/.exec(result?.content[0]?.text ?? "")?.[1] ?? "";
  });

  test.each(toolsOf(era))("$name answers what its output schema says", async ({ name, fields, required, output }) => {
    const validate = ajv.compile(output);
    const least = validOf(required, fields);
    let answers = 0;
    for (const more of [undefined, ...Object.keys(fields)]) {
      const args = more === undefined ? least : { ...least, [more]: valid(more, fields[more] ?? {}) };
      const reply = await call(era, name, args);
      if (reply.result?.isError) {
        // What goes with what, no schema says.
        const fault = faultOf(reply, JSON.stringify(args));
        expect(
          Object.keys(fields).filter((field) => new RegExp(`\\b${field}\\b`).test(fault)),
          fault,
        ).not.toEqual([]);
        continue;
      }
      expect(
        validate(reply.result?.structuredContent),
        `${JSON.stringify(args)}: ${ajv.errorsText(validate.errors)}`,
      ).toBe(true);
      expect(reply.result?.content[0]?.text).toBeTruthy();
      answers++;
    }
    expect(answers).toBeGreaterThan(0);
  });

  test.each(toolsOf(era))("$name says as its result which argument is wrong", async ({ name, fields, required }) => {
    const least = validOf(required, fields);
    for (const [field, schema] of Object.entries(fields)) {
      const [wrong] = wrongOf(field, schema, required);
      const fault = faultOf(await call(era, name, { ...least, [field]: wrong }), field);
      expect(fault, field).toContain(`${name}'s "${field}`);
    }
    for (const field of required) {
      const { [field]: _, ...others } = least;
      expect(faultOf(await call(era, name, others), field)).toContain(`lacks "${field}"`);
    }
    const unknown = faultOf(await call(era, name, { ...least, constructor: "x" }), "constructor");
    expect(unknown).toContain(`It takes ${Object.keys(fields).join(", ")}.`);
    const inherited = await call(era, name, '{"__proto__": {"content": "x"}}');
    expect(inherited).toMatchObject({ status: 400, error: { message: expect.stringContaining("__proto__") } });
  });

  test.each(toolsOf(era))("$name takes an object of arguments, and nothing else", async ({ name }) => {
    for (const args of ["[]", '["x"]', '"x"', "5", "true"]) {
      const { error } = await call(era, name, args);
      expect(error, args).toEqual({ code: -32_602, message: expect.stringMatching(/^The "arguments" .* an object/) });
    }
  });

  const ofLibraries = toolsOf(era).filter(({ fields }) => "library" in fields);
  test.each(ofLibraries)("$name says where the names of libraries are, to a key that may see them", async (tool) => {
    const { name, fields, required } = tool;
    const args = { ...validOf(required, fields), ...subjectOf(fields), library: "nosuch" };
    expect(faultOf(await call(era, name, args), name)).toContain("memory_libraries");
    const writer = opened().server.addKey({ scopes: scopeSet(["memory:write"]), teamDefaultLibraryId: "lib-handbook" });
    const reply = await callAs(era, { url: opened().server.url, key: writer }, name, JSON.stringify(args));
    expect(JSON.stringify(reply)).not.toContain("memory_libraries");
  });

  test("a tool that there is not is an error that says where the names are", async () => {
    for (const name of [
      "memory_delete_all",
      "constructor",
      "__proto__",
      "toString",
      "MEMORY_LIST",
      " memory_list",
      "x".repeat(1_000),
    ]) {
      const { error } = await call(era, name, {});
      expect(error, name).toMatchObject({ code: -32_602, message: expect.stringContaining("tools/list") });
    }
    for (const name of [null, 5, ["memory_list"], { name: "memory_list" }, true]) {
      const { error } = await call(era, name, {});
      expect(error).toEqual({ code: -32_602, message: expect.stringMatching(/^The "name" .*tools\/list/) });
    }
  });
});

/** Arguments for some of a tool's fields. */
function validOf(names: readonly string[], fields: Fields): Readonly<Record<string, unknown>> {
  return Object.fromEntries(names.map((name) => [name, valid(name, fields[name] ?? {})]));
}

/** What a tool is asked about, where its schema lets it be asked in more than one way. */
function subjectOf(fields: Fields): Readonly<Record<string, unknown>> {
  const subject = ["query", "content"].filter((field) => field in fields);
  return validOf(subject, fields);
}

/** An argument that a field takes: of what is there, where it names something. */
function valid(field: string, schema: Schema): unknown {
  if (field === "id") return id;
  if (field === "ids") return [id];
  if (field === "library") return "handbook";
  if (field === "query") return "deployments";
  if (field === "content") return "The deploy freeze ends on Monday.";
  if (field === "cursor") return "";
  return fitting(schema);
}

/** A value that a schema takes. */
function fitting({ type, anyOf, enum: choices, items, minimum, format, properties, required }: Schema): unknown {
  if (Array.isArray(anyOf)) return fitting(anyOf[0]);
  if (Array.isArray(choices)) return choices[0];
  switch ([type].flat()[0]) {
    case "integer":
    case "number":
      return minimum ?? 1;
    case "boolean":
      return true;
    case "array":
      return [fitting((items ?? {}) as Schema)];
    case "object":
      return Object.fromEntries(
        [required ?? []]
          .flat()
          .map((field) => [field, valid(String(field), (properties as Fields)[String(field)] ?? {})]),
      );
    default:
      return format === "date-time" ? "2030-01-01T00:00:00Z" : "word";
  }
}

/** Whether a tool knows what is meant by a value that its schema does not take. */
function isMeant(
  field: string,
  { type, items, maximum }: Schema,
  value: unknown,
  required: readonly string[],
): boolean {
  if (value === null || value === "") return !required.includes(field);
  if (type === "array") return typeof value === "string" && (items as Schema).type === "string";
  return ["limit", "maxTokens"].includes(field) && typeof value === "number" && value > Number(maximum);
}

/** Arguments that a field does not take. */
function wrongOf(field: string, schema: Schema, required: readonly string[]): unknown[] {
  return wrongValues(schema).filter((value) => !isMeant(field, schema, value, required));
}

/** By their text: fields of many tools have the same schema. */
const validators = new Map<string, ValidateFunction>();

function validatorOf(schema: Schema): ValidateFunction {
  const text = JSON.stringify(schema);
  const validate = validators.get(text) ?? ajv.compile(schema);
  validators.set(text, validate);
  return validate;
}

/** Values that a schema does not take: of other types, and beyond its bounds. */
function wrongValues(schema: Schema): unknown[] {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, items } = schema;
  const bounds = [
    ...(typeof minLength === "number" ? [""] : []),
    ...(typeof maxLength === "number" ? ["x".repeat(maxLength + 1), "\0"] : []),
    ...(typeof minimum === "number" ? [minimum - 1, -1e308] : []),
    ...(typeof maximum === "number" ? [maximum + 1, 1e308] : []),
    ...(typeof minItems === "number" ? [[]] : []),
    ...(typeof maxItems === "number" ? [Array.from({ length: maxItems + 1 }, (_, i) => `${i}`)] : []),
    ...(items === undefined ? [] : [[null], [{}], [[]], ...wrongValues(items as Schema).map((wrong) => [wrong])]),
  ];
  const ofBranches = [schema.anyOf ?? []].flat().flatMap((branch) => wrongValues(branch as Schema));
  const validate = validatorOf(schema);
  return [null, "x", 1.5, -1, true, [], ["x"], {}, { constructor: "x" }, ...bounds, ...ofBranches].filter(
    (value) => !validate(value),
  );
}
