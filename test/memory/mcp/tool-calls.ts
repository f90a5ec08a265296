import { Ajv, type ValidateFunction } from "ajv";
import { expect } from "vitest";
import { TOOLS } from "../../../memory/mcp/protocol/server.ts";
import type { Harness } from "../../server/harness.ts";

const HEADERS = { accept: "application/json, text/event-stream", "content-type": "application/json" };
const ajv = new Ajv({ strict: true, allowUnionTypes: true });
/** By the tool's name. */
const validators = new Map<string, ValidateFunction>();

function validatorOf(name: string): ValidateFunction {
  const schema: Record<string, unknown> = { ...TOOLS.get(name)?.definition.outputSchema };
  const validate = validators.get(name) ?? ajv.compile(schema);
  validators.set(name, validate);
  return validate;
}

/** What a tool answered: its text, where it succeeded what is structured, and the bytes of all of it. */
export type ToolResult = {
  readonly text: string;
  readonly isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into as JavaScript is, by many shapes.
  readonly structured: any;
  readonly bytes: number;
};

/** Calls a tool by one message. What is structured fits the schema that the tool is listed with. */
export async function callTool(
  server: Harness,
  key: string,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
): Promise<ToolResult> {
  const response = await fetch(`${server.url}/api/v1/memory/mcp`, {
    method: "POST",
    headers: { ...HEADERS, authorization: `Bearer ${key}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  });
  const body = await response.text();
  const { result } = JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body);
  expect(result, body).toBeDefined();
  const isError = result.isError === true;
  if (!isError) {
    const validate = validatorOf(name);
    expect(validate(result.structuredContent), ajv.errorsText(validate.errors)).toBe(true);
  }
  return {
    text: result.content[0].text,
    isError,
    structured: result.structuredContent,
    bytes: Buffer.byteLength(body),
  };
}
