/** Bodies of 31 MiB that are costly to look into, each by another way, and where they are sent. */
import { GATEWAYS } from "./tenants.ts";

export type CostlyBody = { readonly what: string; readonly path: string; readonly make: () => Buffer };

const SIZE = 31 * 1024 * 1024;
const CHAT = `/g/${GATEWAYS.hostile.routes}/v1/chat/completions`;
const BATCH = `/g/${GATEWAYS.hostile.routes}/v1beta/models/m:batchEmbedContents`;
const MCP = "/api/v1/memory/mcp";

export const COSTLY_BODIES: readonly CostlyBody[] = [
  { what: "5 million members", path: CHAT, make: () => repeated("{", '"a":1,', '"model":"fast"}') },
  {
    what: "models of a batch",
    path: BATCH,
    make: () => repeated('{"requests":[', '{"model":"m"},', '{"model":"m"}]}'),
  },
  { what: "escaped strings", path: CHAT, make: () => repeated('{"a":"', "\\u0061\\n", '","model":"fast"}') },
  { what: "depth", path: CHAT, make: () => repeated('{"a":', "[", "") },
  { what: "numbers", path: CHAT, make: () => repeated('{"a":[', "1e1,", '1],"model":"fast"}') },
  { what: "members to MCP", path: MCP, make: () => members(70_000) },
  { what: "members of an atom", path: "/atoms", make: () => repeated("{", '"a":1,', '"content":"x"}', 1024 * 1024) },
];

function repeated(head: string, piece: string, tail: string, size = SIZE): Buffer {
  const count = Math.floor((size - head.length - tail.length) / piece.length);
  return Buffer.from(head + piece.repeat(count) + tail);
}

/** A call of a tool with unknown arguments. */
function members(count: number): Buffer {
  const unknown = Object.fromEntries(Array.from({ length: count }, (_, n) => [`member${n}`, n]));
  const params = { name: "memory_list", arguments: unknown };
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
}
