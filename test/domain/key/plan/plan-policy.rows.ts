/** When the store gets the policy that is declared, and what of it. */
import { DAY, HOUR, NOW } from "../../rule-table.ts";
import { type KeyTable, NOTHING } from "../situations.ts";

const source = "domain/key/plan/plan-policy.ts";

export const POLICY: KeyTable = {
  decision: "The key's policy",
  says: "The store has what is declared of the key (`policyOf`) before the controller looks at versions.",
  source,
  rows: [
    {
      rule: "the store gets another display name",
      from: "at rest",
      change: { declared: { displayName: "new" } },
      outcome: { do: "UpdatePolicy", policy: { displayName: "new" }, expiresAfter: null },
    },
    {
      rule: "the store gets other scopes",
      from: "at rest",
      change: { declared: { scopes: ["memory:read"] } },
      outcome: { do: "UpdatePolicy", policy: { scopes: ["memory:read"] } },
    },
    {
      rule: "c112: a protected declaration narrows its key also as it is deleted without the finalizer",
      from: "protected",
      change: { hasFinalizer: false, generation: 2, declared: { scopes: ["memory:read"] } },
      outcome: { do: "UpdatePolicy", policy: { scopes: ["memory:read"] } },
    },
    {
      rule: "c112: a protected declaration's policies end its key also as it is deleted without the finalizer",
      from: "protected",
      change: { hasFinalizer: false, declared: { expiresAt: NOW - DAY } },
      outcome: { do: "UpdatePolicy", policy: { expiresAt: NOW - DAY } },
    },
    {
      rule: "scopes in another order are the same scopes",
      from: "at rest",
      change: { declared: { scopes: ["memory:write", "memory:read"] } },
      outcome: NOTHING,
    },
    {
      rule: "the store gets the gateway that the key is bound to",
      from: "at rest",
      change: { references: { gatewayId: "gw_a" } },
      outcome: { do: "UpdatePolicy", policy: { boundGatewayId: "gw_a" } },
    },
    {
      rule: "a gateway that is not there binds the key to no other one",
      from: "at rest",
      change: { references: { gatewayId: "" } },
      outcome: { do: "UpdatePolicy", policy: { boundGatewayId: "" } },
    },
    {
      rule: "the store gets other libraries",
      from: "at rest",
      change: { references: { libraryIds: ["lib_a"] } },
      outcome: { do: "UpdatePolicy", policy: { libraryIds: ["lib_a"] } },
    },
    {
      rule: "the store gets all libraries of the team",
      from: "at rest",
      change: { references: { libraryIds: null } },
      outcome: { do: "UpdatePolicy", policy: { libraryIds: null } },
    },
    {
      rule: "libraries in another order, or twice, are the same libraries",
      from: "at rest",
      change: { references: { libraryIds: ["lib_b", "lib_a", "lib_b"] } },
      outcome: NOTHING,
    },
    {
      rule: "the store gets another default library",
      from: "at rest",
      change: { references: { mcpDefaultLibraryId: "lib_a" } },
      outcome: { do: "UpdatePolicy", policy: { mcpDefaultLibraryId: "lib_a" } },
    },
    {
      rule: "the store gets other models",
      from: "at rest",
      change: { declared: { allowedModels: ["model-a"] } },
      outcome: { do: "UpdatePolicy", policy: { allowedModels: ["model-a"] } },
    },
    {
      rule: "models in another order, or twice, are the same models",
      from: "at rest",
      change: { declared: { allowedModels: ["model-b", "model-a", "model-b"] } },
      outcome: NOTHING,
    },
    {
      rule: "the store gets the end of the key",
      from: "at rest",
      change: { declared: { expiresAt: NOW + DAY } },
      outcome: { do: "UpdatePolicy", policy: { expiresAt: NOW + DAY } },
    },
    {
      rule: "the store gets the rate limit",
      from: "at rest",
      change: { declared: { rateLimit: { requestsPerMinute: 60, burst: 5 } } },
      outcome: { do: "UpdatePolicy", policy: { rateLimit: { requestsPerMinute: 60, burst: 5 } } },
    },
    {
      rule: "the store gets the bound of concurrent calls",
      from: "at rest",
      change: { declared: { concurrent: 3 } },
      outcome: { do: "UpdatePolicy", policy: { concurrent: 3 } },
    },
    {
      rule: "a suspended key that is declared active works again",
      from: "suspended",
      change: { declared: { state: "Active" } },
      outcome: { do: "UpdatePolicy", policy: { suspended: false } },
    },
    {
      rule: "versions that live get the declared lifetime",
      from: "at rest",
      change: { declared: { expiresAfter: HOUR } },
      outcome: { do: "UpdatePolicy", expiresAfter: HOUR },
    },
    {
      rule: "versions that live lose a lifetime that is declared no more",
      from: "limited",
      change: { declared: { expiresAfter: null } },
      outcome: { do: "UpdatePolicy", expiresAfter: null },
    },
    {
      rule: "an old version that works gets the declared lifetime, too",
      from: "rotated before its end",
      change: { stored: { versions: { 1: { expiresAt: null } } } },
      outcome: { do: "UpdatePolicy", expiresAfter: 10 * DAY },
    },
    {
      rule: "a version that has ended keeps the end that it had",
      from: "rotated before its end",
      change: { stored: { versions: { 1: { state: "retired", expiresAt: null } } } },
      outcome: NOTHING,
    },
    {
      rule: "the store gets a later generation that declares the same",
      from: "at rest",
      change: { generation: 2 },
      outcome: { do: "UpdatePolicy" },
    },
    {
      rule: "c25: a generation that is older than the stored one takes nothing back",
      from: "edited",
      change: { generation: 0 },
      outcome: NOTHING,
    },
    {
      rule: "c25: a generation that is older than the stored one ends no old version",
      from: "overdue",
      change: { generation: 0 },
      outcome: NOTHING,
    },
    {
      rule: "c25: a generation that is older than the stored one leaves the Secret",
      from: "to render",
      change: { generation: 0 },
      outcome: NOTHING,
    },
    {
      rule: "c25: a generation that is older than the stored one mints nothing",
      from: "to rotate",
      change: { generation: 0 },
      outcome: NOTHING,
    },
    {
      rule: "the store gets the policy also while the namespace has no team",
      from: "edited",
      change: { references: { teamId: null } },
      outcome: { do: "UpdatePolicy", policy: { scopes: ["memory:read"] } },
    },
    {
      rule: "the policy comes before old versions that are to end",
      from: "overdue",
      change: { declared: { displayName: "new" } },
      outcome: { do: "UpdatePolicy" },
    },
    {
      rule: "versions stay as they are while the namespace has no team",
      from: "overdue",
      change: { references: { teamId: null } },
      outcome: NOTHING,
    },
  ],
};
