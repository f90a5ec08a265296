/** Names of the scopes; what each grants: spec §1. The order fixes each scope's bit; append only. */
export const SCOPES = [
  ...(["gateway:generate", "gateway:embed", "gateway:routes"] as const),
  ...(["memory:read", "memory:write", "gateway:files"] as const),
] as const;

export type Scope = (typeof SCOPES)[number];

/** Wording of each scope: for a form that asks for it (`words`), and for a page that says what it permits (`means`). */
export const SCOPE_TEXTS: Readonly<Record<Scope, { readonly words: string; readonly means: string }>> = {
  "gateway:generate": { words: "Ask models", means: "Have models generate: chat, messages and completions" },
  "gateway:embed": { words: "Make embeddings", means: "Have models embed texts" },
  "gateway:routes": { words: "Use a gateway's own routes", means: "List the models and routes of a gateway" },
  "memory:read": { words: "Search and read atoms", means: "Read and search atoms of the memory" },
  "memory:write": { words: "Write and delete atoms", means: "Save, change and delete atoms of the memory" },
  "gateway:files": {
    words: "Keep files at providers",
    means: "Upload, list, read and delete files at model providers, and cache contents there",
  },
};

/** Product that a key is used for: that of a scope, the part before its colon; or `key`, for questions about itself. */
export type Product = "gateway" | "memory" | "key";

/** The named sets of scopes that a declaration may ask for instead of a list. */
export const PRESETS = {
  MCPReadOnly: ["memory:read"],
  MCPReadWrite: ["memory:read", "memory:write"],
  GatewayDefault: ["gateway:generate", "gateway:embed", "gateway:routes", "memory:read"],
} as const satisfies Record<string, readonly Scope[]>;

export type Preset = keyof typeof PRESETS;

export function isPreset(text: string): text is Preset {
  return Object.hasOwn(PRESETS, text);
}

/** Returns the preset of exactly these scopes, in any order; undefined if there is none. */
export function presetOf(scopes: readonly string[]): Preset | undefined {
  return Object.keys(PRESETS)
    .filter(isPreset)
    .find((preset) => {
      const granted: readonly string[] = PRESETS[preset];
      return granted.length === scopes.length && granted.every((scope) => scopes.includes(scope));
    });
}

/** A set of scopes as bits, one for each entry of {@link SCOPES}: what a decision reads. */
export type ScopeSet = number;

export function scopeSet(scopes: readonly Scope[]): ScopeSet {
  return scopes.reduce((set, scope) => set | scopeBit(scope), 0);
}

/** Returns the scopes of a set, in the order of {@link SCOPES}. */
export function scopesIn(set: ScopeSet): Scope[] {
  return SCOPES.filter((scope) => (set & scopeBit(scope)) !== 0);
}

export function scopeBit(scope: Scope): ScopeSet {
  return 1 << SCOPES.indexOf(scope);
}

/** Returns all scopes of one product, any of which admits a caller; for `key` all scopes. */
export function productScopes(product: Product): ScopeSet {
  if (product === "key") return scopeSet(SCOPES);
  return scopeSet(SCOPES.filter((scope) => scope.startsWith(`${product}:`)));
}

/** True if the text is a scope that exists; there are no wildcards. */
export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
