import { eachFact, factOf } from "../../../../domain/key/declaration/facts.ts";
import type { KeyFields } from "./key-fields.ts";

/** Field of the form: its label, and the paths in the API whose faults are shown beside it. */
type FormField = { readonly label: string; readonly paths: readonly string[] };

/** All fields that a person can fill in, in the order of the form. */
export const FORM_FIELDS: Readonly<Record<Exclude<keyof KeyFields, "budgetWas">, FormField>> = {
  name: { label: "Name", paths: ["name"] },
  team: { label: "Team", paths: ["team"] },
  displayName: { label: "Display name", paths: ["spec.displayName"] },
  ...eachFact((name) => ({ label: factOf(name).label, paths: [`spec.${name}`] })),
  preset: { label: "Preset", paths: ["spec.preset"] },
  scopes: { label: "Scopes", paths: ["spec.scopes"] },
  libraryAccess: { label: "Library access", paths: ["spec.libraryAccess"] },
  libraries: { label: "Libraries", paths: ["spec.libraryAccess.libraryRefs"] },
  defaultLibrary: { label: "MCP default library", paths: ["spec.mcpDefaultLibraryRef"] },
  gateway: { label: "Gateway", paths: ["spec.gatewayRef"] },
  models: { label: "Models", paths: ["spec.allowedModels"] },
  lifetime: { label: "Lifetime", paths: [] },
  expires: { label: "Expires", paths: ["spec.expiresAt"] },
  budgetOf: { label: "Budget", paths: [] },
  budgetAmount: { label: "Amount", paths: ["spec.budgets[0].tokens", "spec.budgets[0].cost", "spec.budgets"] },
  budgetCurrency: { label: "Currency", paths: ["spec.budgets[0].currency"] },
  budgetPeriod: { label: "Resets", paths: [] },
  networks: { label: "Networks", paths: ["spec.allowedCIDRs"] },
  requestsPerMinute: { label: "Requests a minute", paths: ["spec.rateLimit.requestsPerMinute", "spec.rateLimit"] },
  burst: { label: "Requests at once", paths: ["spec.rateLimit.burst"] },
  tokensPerMinute: { label: "Tokens a minute", paths: ["spec.rateLimit.tokensPerMinute"] },
  rateScope: { label: "Requests and tokens are counted", paths: [] },
  concurrent: { label: "Calls under way", paths: ["spec.rateLimit.concurrent"] },
};

export type FormFieldName = keyof typeof FORM_FIELDS;

export const FORM_FIELD_NAMES = Object.keys(FORM_FIELDS) as FormFieldName[];

/** Finds the form's field for a field of the API, by the longest path that `path` starts with. */
export function formFieldOf(path: string): FormFieldName | undefined {
  return FIELD_PATHS.find((field) => path.startsWith(field.path))?.name;
}

const FIELD_PATHS = FORM_FIELD_NAMES.flatMap((name) => FORM_FIELDS[name].paths.map((path) => ({ path, name }))).sort(
  (a, b) => b.path.length - a.path.length,
);
