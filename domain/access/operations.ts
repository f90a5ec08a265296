import { GATEWAY_OPERATIONS, SERVED_OPERATIONS, type ServedOperation } from "./gateway-operations.ts";
import type { Product, Scope } from "./scopes.ts";

/**
 * Every operation that a key may be used for, and the scope it needs: the table that REST, MCP and the gateway all read
 * (spec §2). `scope: null` means that any scope of the product admits a caller; the operations behind it, such as the
 * MCP
 * endpoint's tools, decide what the caller may do there.
 */
export const OPERATIONS = {
  "atoms.list": { product: "memory", scope: "memory:read" },
  "atoms.search": { product: "memory", scope: "memory:read" },
  "atoms.get": { product: "memory", scope: "memory:read" },
  "atoms.revisions": { product: "memory", scope: "memory:read" },
  "atoms.neighbours": { product: "memory", scope: "memory:read" },
  "atoms.extraction": { product: "memory", scope: "memory:read" },
  "atoms.export": { product: "memory", scope: "memory:read" },
  "atoms.create": { product: "memory", scope: "memory:write" },
  "atoms.create_batch": { product: "memory", scope: "memory:write" },
  "atoms.import": { product: "memory", scope: "memory:write" },
  "atoms.extract": { product: "memory", scope: "memory:write" },
  "atoms.update": { product: "memory", scope: "memory:write" },
  "atoms.delete": { product: "memory", scope: "memory:write" },
  "atoms.restore": { product: "memory", scope: "memory:write" },

  "mcp.connect": { product: "memory", scope: null },
  "mcp.memory_search": { product: "memory", scope: "memory:read" },
  "mcp.memory_recall": { product: "memory", scope: "memory:read" },
  "mcp.memory_wake_up": { product: "memory", scope: "memory:read" },
  "mcp.memory_list": { product: "memory", scope: "memory:read" },
  "mcp.memory_history": { product: "memory", scope: "memory:read" },
  "mcp.memory_libraries": { product: "memory", scope: "memory:read" },
  "mcp.memory_save_atom": { product: "memory", scope: "memory:write" },
  "mcp.memory_correct_atom": { product: "memory", scope: "memory:write" },
  "mcp.memory_forget_atom": { product: "memory", scope: "memory:write" },

  ...ofGateway(),
  /** Resolution of a body's `model` that names a logical route: needed besides the operation's own scope. */
  "gateway.resolve_route": { product: "gateway", scope: "gateway:routes" },

  "key.whoami": { product: "key", scope: null },

  /** Scopes alone: for services of others, whose proxies ask the verifier. */
  "scope.gateway_generate": { product: "key", scope: "gateway:generate" },
  "scope.gateway_embed": { product: "key", scope: "gateway:embed" },
  "scope.gateway_routes": { product: "key", scope: "gateway:routes" },
  "scope.gateway_files": { product: "key", scope: "gateway:files" },
  "scope.memory_read": { product: "key", scope: "memory:read" },
  "scope.memory_write": { product: "key", scope: "memory:write" },
} as const satisfies Record<string, { product: Product; scope: Scope | null }>;

export type OperationName = keyof typeof OPERATIONS;

/** Operations of the memory, selected by the beginning of their names. */
export type MemoryOperation = Extract<OperationName, `atoms.${string}` | `mcp.${string}`>;

/** Returns what decisions read of the gateway's table. Entries with equal members are quicker to read. */
function ofGateway(): Readonly<Record<ServedOperation, { readonly product: "gateway"; readonly scope: Scope }>> {
  const operations = SERVED_OPERATIONS.map((name) => {
    return [name, { product: "gateway", scope: GATEWAY_OPERATIONS[name].scope }] as const;
  });
  return Object.fromEntries(operations) as ReturnType<typeof ofGateway>;
}
