/** The protocol's two eras: with a handshake at the beginning, and with all that it said in each request. */
export const ERAS = ["2025-11-25", "2026-07-28"] as const;
export type Era = (typeof ERAS)[number];

/** What a request of 2026-07-28 says of itself in `_meta`. */
export function envelope(version: string): Record<string, unknown> {
  return {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
}

/** What came of a message: a result, an error of the protocol, or an answer that is neither. */
export type ToolReply = {
  readonly status: number;
  readonly result?: {
    readonly isError?: boolean;
    readonly content: readonly { readonly text: string }[];
    readonly structuredContent?: unknown;
  };
  readonly error?: { readonly code: number; readonly message: string };
};

/**
 * Calls a tool as a client of an era does.
 *
 * @param args as JSON, which may say what no object of JavaScript does
 */
export async function callAs(
  era: Era,
  { url, key }: { readonly url: string; readonly key: string },
  name: unknown,
  args: string,
): Promise<ToolReply> {
  const isModern = era === "2026-07-28";
  const meta = isModern ? `,"_meta":${JSON.stringify(envelope(era))}` : "";
  const answer = await fetch(`${url}/api/v1/memory/mcp`, {
    method: "POST",
    headers: {
      ...{ authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...{ accept: "application/json, text/event-stream", "mcp-protocol-version": era },
      ...(isModern ? { "mcp-method": "tools/call", "mcp-name": encoded(name) } : {}),
    },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${JSON.stringify(name)},"arguments":${args}${meta}}}`,
  });
  const text = await answer.text();
  return { status: answer.status, ...JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) };
}

/** What a header takes: anything else is as the protocol encodes it. */
function encoded(name: unknown): string {
  const text = String(name);
  return /^[\x21-\x7e]+$/.test(text) ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
