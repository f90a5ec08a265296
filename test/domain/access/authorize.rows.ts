/** What a request may do, each rule as one change of a key's record or of the request. */
import type { AccessRequest, authorize } from "../../../domain/access/authorize.ts";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { SCOPES, type Scope, scopeSet } from "../../../domain/access/scopes.ts";
import type { Client } from "../../../domain/access/source-addresses.ts";
import { NOW, type RuleSet } from "../rule-table.ts";

/** A request, the record of the key that it presents, with its scopes by their names, and who makes it. */
type Request = {
  readonly key: (Omit<KeyRecord, "scopes"> & { readonly scopes: readonly Scope[] }) | undefined;
  readonly request: AccessRequest;
  readonly client: Client;
};

type Decision = "allowed" | NonNullable<ReturnType<typeof authorize>>;

export function recordOf({ key }: Request): KeyRecord | undefined {
  return key && { ...key, scopes: scopeSet(key.scopes) };
}

const ALLOWED = "allowed";
const NOT_FOUND = { code: "not_found" } as const;
const SCOPE_MISSING = { code: "forbidden", reason: "scope_missing" } as const;
const NO_SCOPE_OF_PRODUCT = { code: "forbidden", reason: "no_scope_of_this_product" } as const;
const BOUND_ELSEWHERE = { code: "forbidden", reason: "bound_to_another_gateway" } as const;
const REVOKED = { code: "unauthorized", cause: "revoked" } as const;
const EXPIRED = { code: "unauthorized", cause: "expired" } as const;
const SUSPENDED = { code: "unauthorized", cause: "suspended" } as const;
const WRONG_TEAM = { code: "unauthorized", cause: "wrong_team" } as const;

const KEY = {
  keyId: "key_1",
  version: 1,
  teamId: "team-a",
  namespace: "ns",
  teamHoldsNamespace: true,
  state: "active",
  versionState: "active",
  expiresAt: NOW + 1,
  scopes: SCOPES,
  boundGatewayId: null,
  libraryIds: null,
  mcpDefaultLibraryId: null,
  teamDefaultLibraryId: null,
  allowedModels: null,
  rateLimit: null,
  concurrent: null,
  tokenLimit: null,
  subject: null,
  allowedCIDRs: null,
  teamAllowedCIDRs: null,
  teamLimits: null,
} as const;

const client = { ip: "203.0.113.7" };
const gateway = { gatewayId: "gw_a", teamId: "team-a" };

const BASES = {
  "memory call": {
    is: "A key of team-a with every scope, which ends in 1 ms, asks from 203.0.113.7 to read the memory.",
    state: { key: KEY, request: { product: "memory", operation: "atoms.get" }, client },
  },
  "gateway call": {
    is: "The same key asks gateway gw_a of its team for a completion.",
    state: { key: KEY, request: { product: "gateway", operation: "gateway.chat_completions", gateway }, client },
  },
  "bound call": {
    is: "As *gateway call*, and the key is bound to that gateway.",
    state: {
      key: { ...KEY, boundGatewayId: "gw_a" },
      request: { product: "gateway", operation: "gateway.chat_completions", gateway },
      client,
    },
  },
  whoami: {
    is: "The same key asks who it is.",
    state: { key: KEY, request: { product: "key", operation: "key.whoami" }, client },
  },
} as const satisfies Record<string, { is: string; state: Request }>;

export const ACCESS_RULES: RuleSet<keyof typeof BASES, Request, Decision> = {
  title: "What a request may do",
  bases: BASES,
  tables: [
    {
      decision: "Whether the credential works",
      says: "Decided before anything that the request asks for, so that a refusal says nothing of what there is. A leak is no cause of its own: it ends the key, or the version, which is revoked then.",
      source: "domain/access/key-state.ts",
      rows: [
        { rule: "an active key works before its end", from: "memory call", change: {}, outcome: ALLOWED },
        {
          rule: "an active key does not work at its end",
          from: "memory call",
          change: { key: { expiresAt: NOW } },
          outcome: EXPIRED,
        },
        {
          rule: "a secret that no key has does not work",
          from: "memory call",
          change: { key: undefined },
          outcome: { code: "unauthorized", cause: "unknown" },
        },
        {
          rule: "a reserved version works: its Secret may be there",
          from: "memory call",
          change: { key: { versionState: "reserved" } },
          outcome: ALLOWED,
        },
        {
          rule: "a reserved version does not work at its end",
          from: "memory call",
          change: { key: { versionState: "reserved", expiresAt: NOW } },
          outcome: EXPIRED,
        },
        {
          rule: "an old version works before its deadline",
          from: "memory call",
          change: { key: { versionState: "retiring" } },
          outcome: ALLOWED,
        },
        {
          rule: "an old version is revoked at its deadline",
          from: "memory call",
          change: { key: { versionState: "retiring", expiresAt: NOW } },
          outcome: REVOKED,
        },
        {
          rule: "a retired version does not work",
          from: "memory call",
          change: { key: { versionState: "retired" } },
          outcome: REVOKED,
        },
        {
          rule: "a voided version does not work",
          from: "memory call",
          change: { key: { versionState: "voided" } },
          outcome: REVOKED,
        },
        {
          rule: "a revoked version does not work",
          from: "memory call",
          change: { key: { versionState: "revoked" } },
          outcome: REVOKED,
        },
        {
          rule: "a suspended key does not work",
          from: "memory call",
          change: { key: { state: "suspended" } },
          outcome: SUSPENDED,
        },
        {
          rule: "a suspended key is suspended, also at its end",
          from: "memory call",
          change: { key: { state: "suspended", expiresAt: NOW } },
          outcome: SUSPENDED,
        },
        {
          rule: "a key whose namespace lost its team is suspended",
          from: "memory call",
          change: { key: { teamHoldsNamespace: false } },
          outcome: SUSPENDED,
        },
        {
          rule: "a revoked key does not work, whatever its version is called",
          from: "memory call",
          change: { key: { state: "revoked" } },
          outcome: REVOKED,
        },
        {
          rule: "a revoked key is revoked, also where its namespace lost its team",
          from: "memory call",
          change: { key: { state: "revoked", teamHoldsNamespace: false } },
          outcome: REVOKED,
        },
        {
          rule: "a key with every right is refused at a gateway as any other once it is revoked",
          from: "gateway call",
          change: { key: { state: "revoked" } },
          outcome: REVOKED,
        },
      ],
    },
    {
      decision: "From where a key may be used",
      says: "Judged once the key works and before all that it may do: from elsewhere it says nothing of its rights. The key's list and its team's both hold.",
      source: "domain/access/source-addresses.ts",
      rows: [
        {
          rule: "a key may be used from a network of its list",
          from: "memory call",
          change: { key: { allowedCIDRs: ["2001:db8::/32", "203.0.113.0/24"] } },
          outcome: ALLOWED,
        },
        {
          rule: "a key may not be used from elsewhere",
          from: "memory call",
          change: { key: { allowedCIDRs: ["198.51.100.0/24"] } },
          outcome: { code: "address_not_allowed", by: "key" },
        },
        {
          rule: "a key may not be used from where its team's may not",
          from: "gateway call",
          change: { key: { allowedCIDRs: ["0.0.0.0/0"], teamAllowedCIDRs: ["198.51.100.0/24"] } },
          outcome: { code: "address_not_allowed", by: "team" },
        },
        {
          rule: "an IPv4 address is the same where it is written as one of IPv6",
          from: "memory call",
          change: { key: { teamAllowedCIDRs: ["203.0.113.7/32"] }, client: { ip: "::ffff:203.0.113.7" } },
          outcome: ALLOWED,
        },
        {
          rule: "a key with a list may not be used from an address that is not known",
          from: "whoami",
          change: { key: { allowedCIDRs: ["0.0.0.0/0", "::/0"] }, client: { ip: undefined } },
          outcome: { code: "address_not_allowed", by: "unknown" },
        },
        {
          rule: "a key without a list may",
          from: "whoami",
          change: { client: { ip: undefined } },
          outcome: ALLOWED,
        },
        {
          rule: "a revoked key is unauthorized from anywhere",
          from: "memory call",
          change: { key: { state: "revoked", allowedCIDRs: ["198.51.100.0/24"] } },
          outcome: REVOKED,
        },
        {
          rule: "from elsewhere a key says nothing of its binding and its scopes",
          from: "gateway call",
          change: { key: { allowedCIDRs: ["198.51.100.0/24"], boundGatewayId: "gw_b", scopes: [] } },
          outcome: { code: "address_not_allowed", by: "key" },
        },
      ],
    },
    {
      decision: "Which gateway a key reaches",
      says: "Its binding is judged first, then its team.",
      source: "domain/access/authorize.ts",
      rows: [
        { rule: "a key reaches a gateway of its team", from: "gateway call", change: {}, outcome: ALLOWED },
        {
          rule: "a key reaches no other team's gateway",
          from: "gateway call",
          change: { request: { gateway: { gatewayId: "gw_b", teamId: "team-b" } } },
          outcome: WRONG_TEAM,
        },
        {
          rule: "b32: a gateway that is not there is refused as another team's",
          from: "gateway call",
          change: { request: { gateway: undefined } },
          outcome: WRONG_TEAM,
        },
        { rule: "a bound key reaches its gateway", from: "bound call", change: {}, outcome: ALLOWED },
        {
          rule: "a bound key reaches no other gateway of its team",
          from: "bound call",
          change: { request: { gateway: { gatewayId: "gw_c" } } },
          outcome: BOUND_ELSEWHERE,
        },
        {
          rule: "a bound key learns nothing of another team's gateway",
          from: "bound call",
          change: { request: { gateway: { gatewayId: "gw_b", teamId: "team-b" } } },
          outcome: BOUND_ELSEWHERE,
        },
        {
          rule: "a bound key learns nothing of a gateway that is not there",
          from: "bound call",
          change: { request: { gateway: undefined } },
          outcome: BOUND_ELSEWHERE,
        },
        {
          rule: "a key that is bound to its gateway does not reach it once that is another team's",
          from: "bound call",
          change: { request: { gateway: { teamId: "team-b" } } },
          outcome: WRONG_TEAM,
        },
        {
          rule: "a key that is bound to a gateway that is gone reaches none",
          from: "bound call",
          change: { key: { boundGatewayId: "" } },
          outcome: BOUND_ELSEWHERE,
        },
        {
          rule: "a binding does not matter to the memory",
          from: "memory call",
          change: { key: { boundGatewayId: "gw_a" } },
          outcome: ALLOWED,
        },
      ],
    },
    {
      decision: "Which operations a key may use",
      says: "A key needs a scope of the product before it learns which paths there are, and then the operation's own.",
      source: "domain/access/authorize.ts",
      rows: [
        {
          rule: "a key may read with the scope for it alone",
          from: "memory call",
          change: { key: { scopes: ["memory:read"] } },
          outcome: ALLOWED,
        },
        {
          rule: "a key may not read with the scope to write alone",
          from: "memory call",
          change: { key: { scopes: ["memory:write"] } },
          outcome: SCOPE_MISSING,
        },
        {
          rule: "a key may do nothing with the memory by the scopes of gateways",
          from: "memory call",
          change: { key: { scopes: ["gateway:generate", "gateway:embed", "gateway:routes"] } },
          outcome: NO_SCOPE_OF_PRODUCT,
        },
        {
          rule: "a key without a scope may do nothing",
          from: "memory call",
          change: { key: { scopes: [] } },
          outcome: NO_SCOPE_OF_PRODUCT,
        },
        {
          rule: "a path of the memory that is no operation is not found",
          from: "memory call",
          change: { request: { operation: undefined } },
          outcome: NOT_FOUND,
        },
        {
          rule: "the MCP endpoint takes any scope of the memory",
          from: "memory call",
          change: { key: { scopes: ["memory:write"] }, request: { operation: "mcp.connect" } },
          outcome: ALLOWED,
        },
        {
          rule: "the MCP endpoint takes no scope of gateways",
          from: "memory call",
          change: { key: { scopes: ["gateway:generate"] }, request: { operation: "mcp.connect" } },
          outcome: NO_SCOPE_OF_PRODUCT,
        },
        {
          rule: "a key may generate with the scope for it alone",
          from: "gateway call",
          change: { key: { scopes: ["gateway:generate"] } },
          outcome: ALLOWED,
        },
        {
          rule: "a key may not generate with the scope to embed alone",
          from: "gateway call",
          change: { key: { scopes: ["gateway:embed"] } },
          outcome: SCOPE_MISSING,
        },
        {
          rule: "a key may do nothing at gateways by the scopes of the memory",
          from: "gateway call",
          change: { key: { scopes: ["memory:read", "memory:write"] } },
          outcome: NO_SCOPE_OF_PRODUCT,
        },
        {
          rule: "a path of a gateway that is no operation is not found",
          from: "gateway call",
          change: { request: { operation: undefined } },
          outcome: NOT_FOUND,
        },
        {
          rule: "a key without a scope of gateways does not learn which paths there are",
          from: "gateway call",
          change: { key: { scopes: ["memory:read"] }, request: { operation: undefined } },
          outcome: NO_SCOPE_OF_PRODUCT,
        },
        {
          rule: "a key learns of its binding before its scopes",
          from: "bound call",
          change: { key: { scopes: [] }, request: { gateway: { gatewayId: "gw_c" } } },
          outcome: BOUND_ELSEWHERE,
        },
        {
          rule: "a key may ask who it is with any scope",
          from: "whoami",
          change: { key: { scopes: ["gateway:embed"] } },
          outcome: ALLOWED,
        },
        {
          rule: "a key without a scope may not ask who it is",
          from: "whoami",
          change: { key: { scopes: [] } },
          outcome: NO_SCOPE_OF_PRODUCT,
        },
      ],
    },
  ],
};
