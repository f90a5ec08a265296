import type { KeyFields } from "./key-fields.ts";
import { END, eachOf, type FormField, GATEWAY, LIMITS, NAMING, RATE_LIMIT } from "./member-fields.ts";

/** All fields that a person can fill in, in the order of the form. */
export const FORM_FIELDS: Readonly<Record<Exclude<keyof KeyFields, "budgetWas">, FormField>> = {
  name: { label: "Name", paths: ["name"] },
  team: { label: "Team", paths: ["team"] },
  ...eachOf(NAMING, (row) => row),
  preset: { label: "Preset", paths: ["spec.preset"] },
  scopes: { label: "Scopes", paths: ["spec.scopes"] },
  libraryAccess: { label: "Library access", paths: ["spec.libraryAccess"] },
  libraries: { label: "Libraries", paths: ["spec.libraryAccess.libraryRefs"] },
  defaultLibrary: { label: "MCP default library", paths: ["spec.mcpDefaultLibraryRef"] },
  gateway: { label: "Gateway", paths: ["spec.gatewayRef"] },
  ...eachOf(GATEWAY, (row) => row),
  lifetime: { label: "Lifetime", paths: [] },
  expires: END,
  budgetOf: { label: "Budget", paths: [] },
  budgetAmount: { label: "Amount", paths: ["spec.budgets[0].tokens", "spec.budgets[0].cost", "spec.budgets"] },
  budgetCurrency: { label: "Currency", paths: ["spec.budgets[0].currency"] },
  budgetPeriod: { label: "Resets", paths: [] },
  ...eachOf([...LIMITS, ...RATE_LIMIT], (row) => row),
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
