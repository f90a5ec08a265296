/**
 * What spec.md says of rights, written down again by hand from its text: the oracle that the decisions are held
 * against. Nothing here is imported from the code that decides.
 */

export const SCOPE_NAMES = [
  "gateway:generate",
  "gateway:embed",
  "gateway:routes",
  "memory:read",
  "memory:write",
  "gateway:files",
] as const;
export type ScopeName = (typeof SCOPE_NAMES)[number];

/** spec §1, §3 and §4: each operation, and the scopes any one of which grants it. */
export const GRANTS: Readonly<Record<string, readonly ScopeName[]>> = {
  "atoms.list": ["memory:read"],
  "atoms.search": ["memory:read"],
  "atoms.get": ["memory:read"],
  "atoms.revisions": ["memory:read"],
  "atoms.neighbours": ["memory:read"],
  "atoms.extraction": ["memory:read"],
  "atoms.export": ["memory:read"],
  "atoms.create": ["memory:write"],
  "atoms.create_batch": ["memory:write"],
  "atoms.import": ["memory:write"],
  "atoms.extract": ["memory:write"],
  "atoms.update": ["memory:write"],
  "atoms.delete": ["memory:write"],
  "atoms.restore": ["memory:write"],
  "mcp.connect": ["memory:read", "memory:write"],
  "mcp.memory_search": ["memory:read"],
  "mcp.memory_recall": ["memory:read"],
  "mcp.memory_wake_up": ["memory:read"],
  "mcp.memory_list": ["memory:read"],
  "mcp.memory_history": ["memory:read"],
  "mcp.memory_libraries": ["memory:read"],
  "mcp.memory_save_atom": ["memory:write"],
  "mcp.memory_correct_atom": ["memory:write"],
  "mcp.memory_forget_atom": ["memory:write"],
  "gateway.chat_completions": ["gateway:generate"],
  "gateway.completions": ["gateway:generate"],
  "gateway.responses": ["gateway:generate"],
  "gateway.messages": ["gateway:generate"],
  "gateway.count_message_tokens": ["gateway:generate"],
  "gateway.generate_content": ["gateway:generate"],
  "gateway.stream_generate_content": ["gateway:generate"],
  "gateway.count_tokens": ["gateway:generate"],
  "gateway.embeddings": ["gateway:embed"],
  "gateway.embed_content": ["gateway:embed"],
  "gateway.batch_embed_contents": ["gateway:embed"],
  "gateway.generate_images": ["gateway:generate"],
  "gateway.edit_images": ["gateway:generate"],
  "gateway.vary_images": ["gateway:generate"],
  "gateway.speak": ["gateway:generate"],
  "gateway.transcribe": ["gateway:generate"],
  "gateway.translate_speech": ["gateway:generate"],
  "gateway.moderate": ["gateway:generate"],
  "gateway.get_response": ["gateway:generate"],
  "gateway.delete_response": ["gateway:generate"],
  "gateway.cancel_response": ["gateway:generate"],
  "gateway.list_input_items": ["gateway:generate"],
  "gateway.create_conversation": ["gateway:generate"],
  "gateway.get_conversation": ["gateway:generate"],
  "gateway.update_conversation": ["gateway:generate"],
  "gateway.delete_conversation": ["gateway:generate"],
  "gateway.create_items": ["gateway:generate"],
  "gateway.list_items": ["gateway:generate"],
  "gateway.get_item": ["gateway:generate"],
  "gateway.delete_item": ["gateway:generate"],
  "gateway.create_batch": ["gateway:generate"],
  "gateway.list_batches": ["gateway:generate"],
  "gateway.get_batch": ["gateway:generate"],
  "gateway.cancel_batch": ["gateway:generate"],
  "gateway.batch_generate_content": ["gateway:generate"],
  "gateway.async_batch_embed_content": ["gateway:generate"],
  "gateway.list_gemini_batches": ["gateway:generate"],
  "gateway.get_gemini_batch": ["gateway:generate"],
  "gateway.cancel_gemini_batch": ["gateway:generate"],
  "gateway.delete_gemini_batch": ["gateway:generate"],
  "gateway.create_vector_store": ["gateway:files"],
  "gateway.list_vector_stores": ["gateway:files"],
  "gateway.get_vector_store": ["gateway:files"],
  "gateway.update_vector_store": ["gateway:files"],
  "gateway.delete_vector_store": ["gateway:files"],
  "gateway.search_vector_store": ["gateway:files"],
  "gateway.add_to_vector_store": ["gateway:files"],
  "gateway.list_files_in_vector_store": ["gateway:files"],
  "gateway.get_file_in_vector_store": ["gateway:files"],
  "gateway.update_file_in_vector_store": ["gateway:files"],
  "gateway.remove_from_vector_store": ["gateway:files"],
  "gateway.read_file_in_vector_store": ["gateway:files"],
  "gateway.create_file_batch": ["gateway:files"],
  "gateway.get_file_batch": ["gateway:files"],
  "gateway.cancel_file_batch": ["gateway:files"],
  "gateway.list_files_of_batch": ["gateway:files"],
  "gateway.create_message_batch": ["gateway:generate"],
  "gateway.list_message_batches": ["gateway:generate"],
  "gateway.get_message_batch": ["gateway:generate"],
  "gateway.cancel_message_batch": ["gateway:generate"],
  "gateway.delete_message_batch": ["gateway:generate"],
  "gateway.get_batch_results": ["gateway:generate"],
  "gateway.create_file": ["gateway:files"],
  "gateway.list_files": ["gateway:files"],
  "gateway.get_file": ["gateway:files"],
  "gateway.delete_file": ["gateway:files"],
  "gateway.get_file_content": ["gateway:files"],
  "gateway.upload_gemini_file": ["gateway:files"],
  "gateway.list_gemini_files": ["gateway:files"],
  "gateway.get_gemini_file": ["gateway:files"],
  "gateway.delete_gemini_file": ["gateway:files"],
  "gateway.download_gemini_file": ["gateway:files"],
  "gateway.create_cached_content": ["gateway:files"],
  "gateway.list_cached_contents": ["gateway:files"],
  "gateway.get_cached_content": ["gateway:files"],
  "gateway.update_cached_content": ["gateway:files"],
  "gateway.delete_cached_content": ["gateway:files"],
  "gateway.create_upload": ["gateway:files"],
  "gateway.add_upload_part": ["gateway:files"],
  "gateway.complete_upload": ["gateway:files"],
  "gateway.cancel_upload": ["gateway:files"],
  "gateway.list_models": ["gateway:routes"],
  "gateway.get_model": ["gateway:routes"],
  "gateway.resolve_route": ["gateway:routes"],
  "key.whoami": SCOPE_NAMES,
  "scope.gateway_generate": ["gateway:generate"],
  "scope.gateway_embed": ["gateway:embed"],
  "scope.gateway_routes": ["gateway:routes"],
  "scope.gateway_files": ["gateway:files"],
  "scope.memory_read": ["memory:read"],
  "scope.memory_write": ["memory:write"],
};

/** spec §1 and §2.2, architecture §2: each state that a presented key can be in, and whether it may be used. */
export const STATES = {
  active: "usable",
  "reserved, its Secret is being written": "usable",
  "retiring, before its deadline": "usable",
  "active, expires later": "usable",
  "retiring, past its deadline": "refused",
  "expired this very moment": "refused",
  "expired long ago": "refused",
  "the version retired": "refused",
  "the version voided": "refused",
  "the version revoked": "refused",
  "the key revoked": "refused",
  "the key suspended": "refused",
  "its namespace lost its team": "refused",
  "a state of a newer build": "refused",
  unknown: "refused",
} as const satisfies Record<string, "usable" | "refused">;
export type StateName = keyof typeof STATES;

/** spec §2.1: where a key may stand. */
export const CARRIER_NAMES = ["vendor header", "?key=", "Bearer", "X-API-Key"] as const;
export type CarrierName = (typeof CARRIER_NAMES)[number];

/** spec §2.4: what a key is bound to, and what a path names; the answer where the key is usable. */
export const GATEWAY_RULE = {
  unbound: { "its team's": "pass", "its team's other": "pass", "another team's": 401, no: 401, "a suspended": 401 },
  bound: { "its team's": "pass", "its team's other": 403, "another team's": 403, no: 403, "a suspended": 403 },
  "bound to nothing": {
    "its team's": 403,
    "its team's other": 403,
    "another team's": 403,
    no: 403,
    "a suspended": 403,
  },
} as const;
export type BindingName = keyof typeof GATEWAY_RULE;
export type TargetName = keyof (typeof GATEWAY_RULE)["unbound"];

export type Case = {
  readonly current: boolean;
  readonly state: StateName;
  readonly scopes: readonly ScopeName[];
  /** Undefined: a path and method of the product that are no operation. */
  readonly operation: string | undefined;
  readonly product: "gateway" | "memory" | "key";
  readonly binding: BindingName;
  readonly target: TargetName;
};

/** spec §2.8, the order of checks: the status that a request gets, 200 where it may go on. */
export function statusBySpec(request: Case): number {
  if (!request.current) return 503;
  if (STATES[request.state] === "refused") return 401;
  if (request.product === "gateway") {
    const rule = GATEWAY_RULE[request.binding][request.target];
    if (rule !== "pass") return rule;
  }
  const isOfProduct = (scope: ScopeName) => request.product === "key" || scope.startsWith(`${request.product}:`);
  if (!request.scopes.some(isOfProduct)) return 403;
  if (request.operation === undefined) return 404;
  return GRANTS[request.operation]?.some((scope) => request.scopes.includes(scope)) ? 200 : 403;
}
