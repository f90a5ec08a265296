import { type MemoryTool, ToolFault } from "../../../memory/mcp/definition/tool.ts";
import { TOOLS } from "../../../memory/mcp/protocol/server.ts";

/** One that the suite looks for every keyword of, as it gives it. */
const SCHEMA: MemoryTool["definition"]["inputSchema"] = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** The tools that the conformance suite calls by name, and whose answers it knows. */
const SUITE_TOOLS: readonly MemoryTool[] = [
  tool("test_simple_text", async () => ({ structured: {}, text: "This is a simple text response for testing." })),
  tool("test_error_handling", async () => {
    throw new ToolFault("This tool intentionally returns an error for testing");
  }),
  tool("json_schema_2020_12_tool", async () => ({ structured: {}, text: "" }), SCHEMA),
];

function tool(
  name: string,
  call: MemoryTool["call"],
  inputSchema: MemoryTool["definition"]["inputSchema"] = { type: "object" },
): MemoryTool {
  return { operation: "mcp.memory_list", definition: { name, description: name, inputSchema }, call };
}

/**
 * Lends the endpoint the suite's tools beside its own.
 *
 * @returns takes them back
 */
export function lendSuiteTools(): () => void {
  const tools = TOOLS as Map<string, MemoryTool>;
  for (const one of SUITE_TOOLS) tools.set(one.definition.name, one);
  return () => {
    for (const { definition } of SUITE_TOOLS) tools.delete(definition.name);
  };
}
