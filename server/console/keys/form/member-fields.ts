/** Fields of the form that are for one member of a spec each: a list for each section, in the order of the form. */
import type { ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import { FACT_NAMES, factOf } from "../../../../domain/key/declaration/facts.ts";
import { choiceOf, DATE, type FieldKind, LINE, NUMBER, WORDS } from "./field-kinds.ts";

const RATE_SCOPE = choiceOf("Replica", [
  { value: "Replica", title: "On each replica by itself" },
  { value: "Installation", title: "Over all replicas together" },
]);

/** Field of the form: its label, and the paths in the API whose faults are shown beside it. */
export type FormField = { readonly label: string; readonly paths: readonly string[] };

export const NAMING = [
  ofMember("displayName", "spec.displayName", LINE, {
    ...{ label: "Display name", hint: "What people call it. Left empty, its name." },
  }),
  ...FACT_NAMES.map((name) => ofMember(name, `spec.${name}`, LINE, factOf(name))),
];

export const GATEWAY = [
  ofMember("models", "spec.allowedModels", WORDS, {
    label: "Models",
    hint: "The models and routes that the key may call, with commas between them. Left empty, any.",
  }),
];

/** End of a key. Each page has a hint of its own for it. */
export const END = ofMember("expires", "spec.expiresAt", DATE, { label: "Expires" });

export const LIMITS = [
  ofMember("networks", "spec.allowedCIDRs", WORDS, {
    label: "Networks",
    hint: "Where the key may be used from, such as 203.0.113.0/24, 2001:db8::/32. Left empty, from anywhere.",
  }),
];

export const RATE_LIMIT = [
  ofMember("requestsPerMinute", "spec.rateLimit.requestsPerMinute", NUMBER, {
    ...{ label: "Requests a minute", hint: "Left empty, they are not limited." },
    paths: ["spec.rateLimit.requestsPerMinute", "spec.rateLimit"],
  }),
  ofMember("burst", "spec.rateLimit.burst", NUMBER, {
    label: "Requests at once",
    hint: "Left empty, a minute's worth.",
  }),
  ofMember("tokensPerMinute", "spec.rateLimit.tokensPerMinute", NUMBER, {
    ...{ label: "Tokens a minute", hint: "Of calls of models. Left empty, they are not limited." },
  }),
  ofMember("rateScope", "spec.rateLimit.scope", RATE_SCOPE, {
    label: "Requests and tokens are counted",
    // A fault of it is that there is nothing to count, which is said beside the requests.
    paths: [],
  }),
  ofMember("concurrent", "spec.rateLimit.concurrent", NUMBER, {
    label: "Calls under way",
    hint: "At the same time, answers that stream included. Left empty, 256.",
  }),
];

/** Fields for members of the spec itself. */
export const SPEC_FIELDS = [...NAMING, ...GATEWAY, END, ...LIMITS];
export const MEMBER_FIELDS = [...SPEC_FIELDS, ...RATE_LIMIT];
export type MemberFieldName = (typeof MEMBER_FIELDS)[number]["name"];

export type MemberField<Name extends string = MemberFieldName> = FieldKind &
  FormField & { readonly name: Name; readonly member: string; readonly hint?: string };

function ofMember<Name extends string>(
  name: Name,
  path: `spec.${keyof ApiManagedKeySpec}` | `spec.rateLimit.${keyof NonNullable<ApiManagedKeySpec["rateLimit"]>}`,
  kind: FieldKind,
  shown: { readonly label: string; readonly hint?: string; readonly paths?: readonly string[] },
): MemberField<Name> {
  return { ...kind, name, member: path.slice(path.lastIndexOf(".") + 1), paths: [path], ...shown };
}

/** Builds a value for each field. Cast: each name is given its own. */
export function eachOf<Name extends string, T>(
  rows: readonly MemberField<Name>[],
  of: (row: MemberField<Name>) => T,
): { readonly [N in Name]: T } {
  return Object.fromEntries(rows.map((row) => [row.name, of(row)])) as { readonly [N in Name]: T };
}
