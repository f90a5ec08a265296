/** What the next step for a declared key is, each rule as one change from a situation: all branches of `planKey`. */
import { DAY, NOW } from "../../rule-table.ts";
import { MINTING_RULES } from "../issuance/issuance-policy.rows.ts";
import { type KeyRules, type KeyTable, NOTHING, SITUATIONS } from "../situations.ts";
import { SLOT_RULES } from "../stored/version-slots.rows.ts";
import { LOOKS } from "./next-deadline.rows.ts";
import { DELETION } from "./plan-deletion.rows.ts";
import { ENDS } from "./plan-end.rows.ts";
import { POLICY } from "./plan-policy.rows.ts";
import { SECRET, VERSIONS } from "./plan-versions.rows.ts";

const source = "domain/key/plan/plan-key.ts";

const FINALIZER: KeyTable = {
  decision: "The finalizer, and replicas that have yet to learn of a change",
  says: "A declaration has the finalizer before it has a key, and nothing counts as done before each replica has acknowledged the last change.",
  source,
  rows: [
    {
      rule: "a new declaration gets the finalizer first",
      from: "new",
      change: { hasFinalizer: false },
      outcome: { do: "AddFinalizer" },
    },
    {
      rule: "a declaration that lost it gets it again",
      from: "at rest",
      change: { hasFinalizer: false },
      outcome: { do: "AddFinalizer" },
    },
    {
      rule: "a declaration that is to end its key gets it before that",
      from: "to revoke",
      change: { hasFinalizer: false },
      outcome: { do: "AddFinalizer" },
    },
    {
      rule: "the controller waits for replicas that have yet to acknowledge the last change",
      from: "at rest",
      change: { confirmed: false },
      outcome: { do: "Wait" },
    },
    {
      rule: "the next step does not wait for them",
      from: "to render",
      change: { confirmed: false },
      outcome: { do: "Render" },
    },
  ],
};

const BIRTH: KeyTable = {
  decision: "The first version",
  says: "A declaration without a key has a secret minted, imports one, or takes over a key that a person made.",
  source,
  rows: [
    {
      rule: "the controller reserves version 1 of a new key",
      from: "new",
      change: {},
      outcome: {
        do: "Reserve",
        number: 1,
        newKey: true,
        why: "FirstVersion",
        supersedes: null,
        policy: { scopes: ["memory:read", "memory:write"], suspended: false },
      },
    },
    {
      rule: "a declaration with state Revoked never has a key",
      from: "new",
      change: { declared: { state: "Revoked" } },
      outcome: NOTHING,
    },
    {
      rule: "the controller mints nothing for a declaration that names a key to take over",
      from: "new",
      change: { importable: { takeOverRefused: "it is another team's" } },
      outcome: NOTHING,
    },
    {
      rule: "the controller writes a version that it has reserved into the Secret",
      from: "first reserved",
      change: {},
      outcome: { do: "Publish", number: 1 },
    },
    {
      rule: "the controller activates the version that the Secret holds",
      from: "first delivered",
      change: {},
      outcome: { do: "Activate", number: 1, retireOldAt: NOW + DAY },
    },
    {
      rule: "the controller reserves the next version where the plaintext went with its process",
      from: "first reserved",
      change: { held: null },
      outcome: { do: "Reserve", number: 2, newKey: false, why: "FirstVersion", supersedes: null },
    },
    { rule: "an import waits until its secret has been read", from: "to import", change: {}, outcome: NOTHING },
    {
      rule: "the controller imports the secret that is declared",
      from: "read to import",
      change: {},
      outcome: {
        do: "Import",
        digest: "digest 1",
        prefix: "inf_AbCdEfGh",
        policy: { scopes: ["memory:read", "memory:write"] },
      },
    },
    {
      rule: "the controller imports a secret where the Secret's name is taken: it writes none",
      from: "read to import",
      change: { secret: { state: "unmanaged" } },
      outcome: { do: "Import" },
    },
    {
      rule: "the controller imports the secret of a suspended key",
      from: "read to import",
      change: { declared: { state: "Suspended" } },
      outcome: { do: "Import", policy: { suspended: true } },
    },
    {
      rule: "an import waits for a team",
      from: "read to import",
      change: { references: { teamId: null } },
      outcome: NOTHING,
    },
    {
      rule: "an import waits for all that the declaration refers to",
      from: "read to import",
      change: { references: { missing: ["There is no gateway."] } },
      outcome: NOTHING,
    },
    {
      rule: "an import waits for a secret that can be imported",
      from: "to import",
      change: { importable: { problem: "The Secret is not there." } },
      outcome: NOTHING,
    },
    {
      rule: "a declaration with state Revoked imports nothing",
      from: "read to import",
      change: { declared: { state: "Revoked" } },
      outcome: NOTHING,
    },
    {
      rule: "the controller takes over a key that a person made",
      from: "to take over",
      change: {},
      outcome: { do: "TakeOver", keyId: "key_made" },
    },
    {
      rule: "the controller takes over a key that it is then to revoke",
      from: "to take over",
      change: { declared: { state: "Revoked" } },
      outcome: { do: "TakeOver", keyId: "key_made" },
    },
    {
      rule: "the controller takes over a key that it is then to suspend",
      from: "to take over",
      change: { declared: { state: "Suspended" } },
      outcome: { do: "TakeOver", keyId: "key_made" },
    },
    {
      rule: "a take-over waits for all that the declaration refers to",
      from: "to take over",
      change: { references: { missing: ["There is no gateway."] } },
      outcome: NOTHING,
    },
    {
      rule: "the controller takes over no key that the declaration may not have",
      from: "to import",
      change: { importable: { takeOverRefused: "it is another team's" } },
      outcome: NOTHING,
    },
  ],
};

export const KEY_RULES: KeyRules = {
  title: "The next step for a key",
  bases: SITUATIONS,
  tables: [ENDS, FINALIZER, POLICY, BIRTH, VERSIONS, ...MINTING_RULES, ...SLOT_RULES, SECRET, DELETION, LOOKS],
};
