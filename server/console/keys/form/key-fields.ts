import { isPreset, isScope, PRESETS, type Scope } from "../../../../domain/access/scopes.ts";
import { defined } from "../../../../domain/defined.ts";
import type { ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import { containsWholeKey } from "../../../../domain/redact.ts";
import { choices, type FormBody, field } from "../../../pages/forms.ts";
import { wordsIn } from "./field-kinds.ts";
import { type Lifetime, readLifetime } from "./lifetimes.ts";
import {
  END,
  eachOf,
  GATEWAY,
  LIMITS,
  MEMBER_FIELDS,
  type MemberField,
  type MemberFieldName,
  NAMING,
  RATE_LIMIT,
  SPEC_FIELDS,
} from "./member-fields.ts";
import { budgetsTyped, NO_BUDGET, readBudget, type TypedBudget, typedBudgetOf } from "./typed-budget.ts";

/** Values of the form of a key, as typed and unchecked. */
export type KeyFields = TypedBudget & { readonly [F in MemberFieldName]: string } & {
  readonly name: string;
  readonly team: string;
  /** Name of a preset in {@link PRESETS}, or empty for a list of scopes. */
  readonly preset: string;
  readonly scopes: readonly string[];
  readonly libraryAccess: "All" | "Restricted";
  /** References to libraries, as `namespace/name`. */
  readonly libraries: readonly string[];
  readonly defaultLibrary: string;
  readonly gateway: string;
  readonly lifetime: Lifetime;
};

export const EMPTY_FIELDS: KeyFields = {
  ...{ name: "", team: "", preset: "GatewayDefault", scopes: [], lifetime: "none", ...NO_BUDGET },
  ...{ libraryAccess: "All", libraries: [], defaultLibrary: "", gateway: "" },
  ...textsOf({}),
};

/**
 * Reads a sent form. @param stored spec of the key that is edited: a page from before an upgrade lacks some of the member
 * fields, and must not remove their values
 */
export function readKeyFields(sent: FormBody, stored: Partial<ApiManagedKeySpec> = {}): KeyFields {
  const body = { ...textsOf(stored), ...sent };
  return {
    name: field(body, "name"),
    team: field(body, "team"),
    preset: field(body, "preset"),
    scopes: choices(body, "scopes"),
    libraryAccess: field(body, "libraryAccess") === "Restricted" ? "Restricted" : "All",
    libraries: [...new Set([...choices(body, "libraries"), ...wordsIn(field(body, "otherLibraries"))])],
    defaultLibrary: field(body, "defaultLibrary"),
    gateway: field(body, "gateway"),
    lifetime: readLifetime(body),
    ...readBudget(body),
    ...eachOf(MEMBER_FIELDS, ({ name, accept }) => accept(field(body, name))),
  };
}

/** Returns fields as a page shows them again: without a key that was pasted into one. Cast: each stays of its type. */
export function fieldsWithoutKeys(fields: KeyFields): KeyFields {
  const shown = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === "string" ? (containsWholeKey(value) ? "" : value) : value.filter((one) => !containsWholeKey(one)),
  ]);
  return Object.fromEntries(shown) as KeyFields;
}

/** Reference, as a spec has it. */
export type Ref = { readonly name: string; readonly namespace?: string };
/** Functions that name references as a form does. */
export type RefNames = { readonly library: (ref: Ref) => string; readonly gateway: (ref: Ref) => string };

/** Fields that the form to edit a key fills from its spec. */
export type EditableFields = Omit<KeyFields, "name" | "team" | "lifetime">;

/**
 * Fills the fields of a form from a spec. @param currency currency that the form offers for a cost if the key has no
 * budget yet
 */
export function fieldsOfSpec(spec: ApiManagedKeySpec, refs: RefNames, currency: string): EditableFields {
  const { preset, scopes, libraryAccess, mcpDefaultLibraryRef, gatewayRef, budgets = [] } = spec;
  return {
    preset: preset ?? "",
    scopes: scopes ?? [],
    libraryAccess: libraryAccess?.mode === "Restricted" ? "Restricted" : "All",
    libraries: (libraryAccess?.libraryRefs ?? []).map(refs.library),
    defaultLibrary: mcpDefaultLibraryRef === undefined ? "" : refs.library(mcpDefaultLibraryRef),
    gateway: gatewayRef === undefined ? "" : refs.gateway(gatewayRef),
    ...typedBudgetOf(budgets, currency),
    ...textsOf(spec),
  };
}

/** Returns the texts of the member fields for a spec. */
function textsOf({ rateLimit = {}, ...spec }: Partial<ApiManagedKeySpec>): Pick<KeyFields, MemberFieldName> {
  const textIn = (object: object) => (row: MemberField) => row.show(Reflect.get(object, row.member));
  return { ...eachOf(SPEC_FIELDS, textIn(spec)), ...eachOf(RATE_LIMIT, textIn(rateLimit)) };
}

/** Members of a spec that the form has other fields for, or leaves out by the chosen scopes. */
const OTHERS_CONTROLLED = [
  ...(["preset", "scopes", "rateLimit", "budgets"] as const),
  ...(["libraryAccess", "mcpDefaultLibraryRef", "subjectAccess", "gatewayRef"] as const),
] satisfies (keyof ApiManagedKeySpec)[];

/** Returns the members that are not controlled. */
function uncontrolled(
  stored: object,
  rows: readonly MemberField[],
  others: readonly string[],
): Record<string, unknown> {
  const controlled = [...others, ...rows.map(({ member }) => member)];
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !controlled.includes(name)));
}

/** Returns the members of an object that member fields ask for, unchecked. */
function membersOf(rows: readonly MemberField[], fields: KeyFields, stored: object): Record<string, unknown> {
  const asked = rows.map(({ name, member, read }) => [member, read(fields[name], Reflect.get(stored, member))]);
  return defined(Object.fromEntries(asked));
}

/**
 * Returns the unchecked spec that a form asks for. Leaves out fields that the page has shown, and hides since no chosen
 * scope is for them.
 *
 * @param stored spec of the key that is edited: its fields without a control in the form stay as they are
 */
export function specOfFields(fields: KeyFields, stored: Partial<ApiManagedKeySpec> = {}): Record<string, unknown> {
  const { subjectAccess, libraryAccess, rateLimit, budgets = [] } = stored;
  const { preset, scopes, gateway, lifetime, expires } = fields;
  const products = productsOf(fields);
  const asked = (rows: readonly MemberField[]) => membersOf(rows, fields, stored);
  return {
    ...uncontrolled(stored, SPEC_FIELDS, OTHERS_CONTROLLED),
    ...asked(NAMING),
    ...(preset === "" ? { scopes } : { preset }),
    ...(products.has("memory") ? { ...(subjectAccess && { subjectAccess }), ...memoryOf(fields, libraryAccess) } : {}),
    ...(products.has("gateway")
      ? { ...(gateway !== "" && { gatewayRef: refOf(gateway) }), ...asked(GATEWAY) }
      : hiddenOf(stored)),
    ...(lifetime === "date" ? { expiresAt: END.read(expires) ?? "" } : {}),
    ...asked(LIMITS),
    ...rateLimitOf(fields, rateLimit),
    ...budgetsTyped(fields, budgets),
  };
}

/** Returns the stored fields for a gateway of a key that has no scope for one: the page has not shown them. */
function hiddenOf({ preset, scopes = [], gatewayRef, allowedModels }: Partial<ApiManagedKeySpec>) {
  const wasShown = productsOf({ preset: preset ?? "", scopes }).has("gateway");
  return wasShown ? {} : defined({ gatewayRef, allowedModels });
}

function memoryOf(
  { libraryAccess, libraries, defaultLibrary }: KeyFields,
  stored: ApiManagedKeySpec["libraryAccess"],
): Record<string, unknown> {
  return {
    ...(libraryAccess === "Restricted" && {
      libraryAccess: { ...stored, mode: "Restricted", libraryRefs: libraries.map(refOf) },
    }),
    ...(defaultLibrary !== "" && { mcpDefaultLibraryRef: refOf(defaultLibrary) }),
  };
}

/** Returns the rate limit that a form asks for. Leaves out who counts if there is nothing to count. */
function rateLimitOf(fields: KeyFields, stored: object = {}): Record<string, unknown> {
  const { scope, ...asked } = membersOf(RATE_LIMIT, fields, stored);
  const isCounted = scope !== undefined && (fields.requestsPerMinute !== "" || fields.tokensPerMinute !== "");
  const rateLimit = { ...uncontrolled(stored, RATE_LIMIT, []), ...asked, ...(isCounted && { scope }) };
  return Object.keys(rateLimit).length === 0 ? {} : { rateLimit };
}

/** Returns the products that the chosen scopes belong to, `memory` and `gateway`. */
export function productsOf({ preset, scopes }: Pick<KeyFields, "preset" | "scopes">): ReadonlySet<string> {
  return new Set((isPreset(preset) ? PRESETS[preset] : scopes.filter(isScope)).map(productOfScope));
}

export function productOfScope(scope: Scope): string {
  return scope.split(":")[0] ?? "";
}

function refOf(text: string): Ref {
  const slash = text.indexOf("/");
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}
