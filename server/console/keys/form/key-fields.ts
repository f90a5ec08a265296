import { isPreset, isScope, PRESETS, type Scope } from "../../../../domain/access/scopes.ts";
import { defined } from "../../../../domain/defined.ts";
import type { ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import { eachFact, FACT_NAMES, type FactName } from "../../../../domain/key/declaration/facts.ts";
import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import { choices, type FormBody, field } from "../../../pages/forms.ts";
import { type Lifetime, readLifetime } from "./lifetimes.ts";
import { budgetsTyped, NO_BUDGET, readBudget, type TypedBudget, typedBudgetOf } from "./typed-budget.ts";

/** Values of the form of a key, as typed and unchecked. */
export type KeyFields = TypedBudget & { readonly [F in FactName]: string } & {
  readonly name: string;
  readonly team: string;
  readonly displayName: string;
  /** Name of a preset in {@link PRESETS}, or empty for a list of scopes. */
  readonly preset: string;
  readonly scopes: readonly string[];
  readonly libraryAccess: "All" | "Restricted";
  /** References to libraries, as `namespace/name`. */
  readonly libraries: readonly string[];
  readonly defaultLibrary: string;
  readonly gateway: string;
  /** Names of models, separated by commas or spaces. */
  readonly models: string;
  readonly lifetime: Lifetime;
  /** Time in UTC as an input of type `datetime-local` has it. */
  readonly expires: string;
  /** Networks in CIDR notation, separated by commas or spaces. */
  readonly networks: string;
  readonly requestsPerMinute: string;
  readonly burst: string;
  readonly tokensPerMinute: string;
  /** Place where requests and tokens are counted. */
  readonly rateScope: "Replica" | "Installation";
  readonly concurrent: string;
};

export const EMPTY_FIELDS: KeyFields = {
  ...{ name: "", team: "", displayName: "", preset: "GatewayDefault", scopes: [] },
  ...{ libraryAccess: "All", libraries: [], defaultLibrary: "", gateway: "", models: "", expires: "", networks: "" },
  ...{ lifetime: "none", ...NO_BUDGET, ...eachFact(() => "") },
  ...{ requestsPerMinute: "", burst: "", tokensPerMinute: "", rateScope: "Replica", concurrent: "" },
};

export function readKeyFields(body: FormBody): KeyFields {
  return {
    name: field(body, "name"),
    team: field(body, "team"),
    displayName: field(body, "displayName"),
    preset: field(body, "preset"),
    scopes: choices(body, "scopes"),
    libraryAccess: field(body, "libraryAccess") === "Restricted" ? "Restricted" : "All",
    libraries: [...choices(body, "libraries"), ...listed(field(body, "otherLibraries"))],
    defaultLibrary: field(body, "defaultLibrary"),
    gateway: field(body, "gateway"),
    models: field(body, "models"),
    lifetime: readLifetime(body),
    expires: field(body, "expires"),
    networks: field(body, "networks"),
    requestsPerMinute: field(body, "requestsPerMinute"),
    burst: field(body, "burst"),
    tokensPerMinute: field(body, "tokensPerMinute"),
    rateScope: field(body, "rateScope") === "Installation" ? "Installation" : "Replica",
    concurrent: field(body, "concurrent"),
    ...readBudget(body),
    ...eachFact((name) => field(body, name)),
  };
}

/** Splits a text at commas and spaces. */
function listed(text: string): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== "");
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
  const {
    displayName,
    preset,
    scopes,
    libraryAccess,
    mcpDefaultLibraryRef,
    gatewayRef,
    allowedModels = [],
    expiresAt,
    rateLimit,
    allowedCIDRs = [],
    budgets = [],
  } = spec;
  return {
    displayName: displayName ?? "",
    preset: preset ?? "",
    scopes: scopes ?? [],
    libraryAccess: libraryAccess?.mode === "Restricted" ? "Restricted" : "All",
    libraries: (libraryAccess?.libraryRefs ?? []).map(refs.library),
    defaultLibrary: mcpDefaultLibraryRef === undefined ? "" : refs.library(mcpDefaultLibraryRef),
    gateway: gatewayRef === undefined ? "" : refs.gateway(gatewayRef),
    models: allowedModels.join(", "),
    expires: expiresAt === undefined ? "" : rfc3339Millis(Date.parse(expiresAt)).replace(/(?:\.000)?Z$/, ""),
    networks: allowedCIDRs.join(", "),
    requestsPerMinute: String(rateLimit?.requestsPerMinute ?? ""),
    burst: String(rateLimit?.burst ?? ""),
    tokensPerMinute: String(rateLimit?.tokensPerMinute ?? ""),
    rateScope: rateLimit?.scope ?? "Replica",
    concurrent: String(rateLimit?.concurrent ?? ""),
    ...typedBudgetOf(budgets, currency),
    ...eachFact((name) => spec[name] ?? ""),
  };
}

/** Fields of a spec that the form has controls for, or leaves out by the chosen scopes. */
const CONTROLLED: ReadonlySet<string> = new Set([
  "displayName",
  "preset",
  "scopes",
  "expiresAt",
  "allowedCIDRs",
  "rateLimit",
  "budgets",
  "libraryAccess",
  "mcpDefaultLibraryRef",
  "subjectAccess",
  "gatewayRef",
  "allowedModels",
  ...FACT_NAMES,
] satisfies (keyof ApiManagedKeySpec)[]);
const CONTROLLED_LIMITS: ReadonlySet<string> = new Set([
  "requestsPerMinute",
  "burst",
  "tokensPerMinute",
  "concurrent",
  "scope",
] satisfies (keyof NonNullable<ApiManagedKeySpec["rateLimit"]>)[]);

/** Returns the members that a form has no control for. */
function uncontrolled(stored: object, controlled: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !controlled.has(name)));
}

/**
 * Returns the unchecked spec that a form asks for. Leaves out fields that the page has shown, and hides since no chosen
 * scope is for them.
 *
 * @param stored spec of the key that is edited: its fields without a control in the form stay as they are
 */
export function specOfFields(fields: KeyFields, stored: Partial<ApiManagedKeySpec> = {}): Record<string, unknown> {
  const { subjectAccess, libraryAccess, allowedModels, rateLimit, budgets = [] } = stored;
  const { displayName, preset, scopes, lifetime, expires, networks } = fields;
  const products = productsOf(fields);
  return {
    ...uncontrolled(stored, CONTROLLED),
    ...(displayName === "" ? {} : { displayName }),
    ...defined(eachFact((name) => fields[name] || undefined)),
    ...(preset === "" ? { scopes } : { preset }),
    ...(products.has("memory") ? { ...(subjectAccess && { subjectAccess }), ...memoryOf(fields, libraryAccess) } : {}),
    ...(products.has("gateway") ? gatewayOf(fields, allowedModels) : hiddenOf(stored)),
    ...(lifetime === "date" ? { expiresAt: rfc3339Of(expires) } : {}),
    ...(networks === "" ? {} : { allowedCIDRs: listed(networks) }),
    ...limitsOf(fields, rateLimit),
    ...budgetsTyped(fields, budgets),
  };
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

/**
 * Returns the spec's fields for a gateway. @param stored models of the key: stays as it is if the names were not
 * edited, since a name may contain a comma
 */
function gatewayOf({ gateway, models }: KeyFields, stored: readonly string[] = []): Record<string, unknown> {
  const allowedModels = models === stored.join(", ") ? stored : modelsOf(models, stored);
  return {
    ...(gateway !== "" && { gatewayRef: refOf(gateway) }),
    ...(models !== "" && { allowedModels }),
  };
}

/** Splits typed names of models at commas and spaces, but no stored name that contains a comma. */
function modelsOf(text: string, stored: readonly string[]): string[] {
  const whole = stored.filter((name) => name.includes(","));
  return text.split(/\s+/).flatMap((part) => {
    const name = whole.find((one) => `${part},`.startsWith(`${one},`));
    return name === undefined ? listed(part) : [name, ...listed(part.slice(name.length))];
  });
}

/** Returns the stored fields for a gateway of a key that has no scope for one: the page has not shown them. */
function hiddenOf({ preset, scopes = [], gatewayRef, allowedModels }: Partial<ApiManagedKeySpec>) {
  const wasShown = productsOf({ preset: preset ?? "", scopes }).has("gateway");
  return wasShown ? {} : defined({ gatewayRef, allowedModels });
}

/**
 * Returns the rate limit that a form asks for. Passes on a text that is no number, for the check of the spec to refuse.
 */
function limitsOf(
  { requestsPerMinute, burst, tokensPerMinute, rateScope, concurrent }: KeyFields,
  stored: ApiManagedKeySpec["rateLimit"] = {},
): Record<string, unknown> {
  const given = Object.entries({ requestsPerMinute, burst, tokensPerMinute, concurrent }).filter(
    ([, text]) => text !== "",
  );
  const rateLimit = {
    ...uncontrolled(stored, CONTROLLED_LIMITS),
    ...Object.fromEntries(given.map(([name, text]) => [name, /^\d{1,9}$/.test(text) ? Number(text) : text])),
  };
  if (Object.keys(rateLimit).length === 0) return {};
  const counted = (requestsPerMinute !== "" || tokensPerMinute !== "") && rateScope === "Installation";
  return { rateLimit: counted ? { ...rateLimit, scope: rateScope } : rateLimit };
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

/**
 * Converts a time that a browser sends, in UTC, to RFC 3339. Returns any other text as it is, for the check of the
 * spec.
 */
function rfc3339Of(text: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text)) return text;
  return `${text.length === 16 ? `${text}:00` : text}Z`;
}
