import type { Product, Scope } from "./scopes.ts";

/**
 * Every operation that a key may be used for, and the scope it needs: the one table that REST, MCP and the gateway
 * read (spec §2). `scope: null` means that any scope of the product lets a caller in; what it may do there is decided
 * by the operations behind it, as for the MCP endpoint's tools.
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

  "gateway.chat_completions": { product: "gateway", scope: "gateway:generate" },
  "gateway.completions": { product: "gateway", scope: "gateway:generate" },
  "gateway.responses": { product: "gateway", scope: "gateway:generate" },
  "gateway.messages": { product: "gateway", scope: "gateway:generate" },
  "gateway.count_message_tokens": { product: "gateway", scope: "gateway:generate" },
  "gateway.generate_content": { product: "gateway", scope: "gateway:generate" },
  "gateway.stream_generate_content": { product: "gateway", scope: "gateway:generate" },
  "gateway.count_tokens": { product: "gateway", scope: "gateway:generate" },
  "gateway.embeddings": { product: "gateway", scope: "gateway:embed" },
  "gateway.embed_content": { product: "gateway", scope: "gateway:embed" },
  "gateway.batch_embed_contents": { product: "gateway", scope: "gateway:embed" },
  "gateway.list_models": { product: "gateway", scope: "gateway:routes" },
  "gateway.get_model": { product: "gateway", scope: "gateway:routes" },
  /** A body's `model` that names a logical route: needed besides the operation's own scope. */
  "gateway.resolve_route": { product: "gateway", scope: "gateway:routes" },

  "key.whoami": { product: "key", scope: null },
} as const satisfies Record<string, { product: Product; scope: Scope | null }>;

export type OperationName = keyof typeof OPERATIONS;

/** The operations of one product, as their names begin. */
export type MemoryOperation = Extract<OperationName, `atoms.${string}` | `mcp.${string}`>;
export type GatewayOperation = Extract<OperationName, `gateway.${string}`>;
