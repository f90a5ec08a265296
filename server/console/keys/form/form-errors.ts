import type { Violation } from "../../../../domain/key/policies/judge-key.ts";
import type { RuleName } from "../../../../domain/key/policies/rules-in-force.ts";
import type { Problem } from "../../../http/problems/problem.ts";
import { problemOf } from "../../../http/problems/problem-of.ts";
import { PolicyRefusal } from "../../../management/keys/request/policy-refusal.ts";
import { FORM_FIELDS, formFieldOf } from "./form-fields.ts";
import type { KeyFields } from "./key-fields.ts";
import type { FormErrors } from "./key-form.ts";

export const NO_ERRORS: FormErrors = { fields: new Map(), whole: "" };

/** Texts for faults of fields of the API whose own words do not fit the form. */
const WORDS: Readonly<Record<string, string>> = {
  "spec.budgets[0].tokens": "write a whole number of tokens, from 1 to 1000000000000",
  "spec.budgets[0].cost": "write what the calls may cost, such as 250.00, up to 9999999.99",
  "spec.budgets[0].currency": "write its three letters, such as USD",
};

/**
 * Codes of problems that a person can correct in the form, which is shown again. Any other problem has a page of its
 * own.
 */
const CORRECTABLE: ReadonlySet<string> = new Set([
  "invalid",
  "invalid_request",
  "exists",
  "conflict",
  "precondition_failed",
  "managed",
  "too_many_versions",
]);

/**
 * Returns an error in the words of the form.
 *
 * @throws the given error if it cannot be corrected in the form
 */
export function formErrorsOf(error: unknown): { readonly shown: Problem; readonly errors: FormErrors } {
  const shown = problemOf(error, "POST");
  if (!CORRECTABLE.has(shown.code)) throw error;
  if (shown.code === "exists") {
    const taken = "Name: is taken by another key of this team: choose another.";
    return { shown, errors: { fields: new Map([["name", taken]]), whole: "What to change is said beside the field:" } };
  }
  if (error instanceof PolicyRefusal) return { shown, errors: policyErrors(error.violations) };
  const found = (Array.isArray(shown.members.errors) ? shown.members.errors : []).flatMap(fieldError);
  const whole = found.length === 0 ? shown.detail : BESIDE_FIELDS;
  return { shown, errors: { fields: new Map(found), whole } };
}

/** Steps that satisfy a rule of a policy, if the form has other words for them than the management API. */
const POLICY_STEPS: Readonly<Partial<Record<RuleName, (step: string) => string>>> = {
  "expiry.required": () => "choose a time",
  "expiry.max": () => "choose an earlier time",
  "rotation.maxInterval": () => "none comes by itself, so choose a time within that",
  allowedScopes: (step) => step.replace("write", "choose"),
  allowedPresets: (step) => step.replace("write ", "choose ").replaceAll("preset: ", ""),
};

/** Returns the violations of policies at their fields, or for the whole form if it has no such field. */
function policyErrors(violations: readonly Violation[]): FormErrors {
  const said = violations.map(({ rule, field, what, step, policy }) => {
    const text = `${what}: ${POLICY_STEPS[rule]?.(step) ?? step} (PlatformKeyPolicy ${policy})`;
    return { at: fieldError({ path: field.replace("spec.expiresAfter", "spec.expiresAt"), message: text }), text };
  });
  const fields = new Map<keyof KeyFields, string>();
  for (const [name, text] of said.flatMap(({ at }) => at)) {
    fields.set(name, [fields.get(name), text].filter(Boolean).join(" "));
  }
  const others = said.filter(({ at }) => at.length === 0).map(({ text }) => `${text}.`);
  return { fields, whole: [...others, ...(fields.size > 0 ? [BESIDE_FIELDS] : [])].join(" ") };
}

export const BESIDE_FIELDS = "What to change is said beside each field:";

function fieldError({ path, message }: { path: string; message: string }): [keyof KeyFields, string][] {
  const name = formFieldOf(path);
  return name === undefined ? [] : [[name, `${FORM_FIELDS[name].label}: ${WORDS[path] ?? message}.`]];
}

/** Advice for required fields that are empty. */
const WHERE_EMPTY: Readonly<Partial<Record<keyof KeyFields, string>>> = {
  name: "Type a name, such as checkout-assistant.",
  team: "Choose a team.",
  scopes: "Choose at least one scope.",
  libraries: "Choose at least one library.",
  requestsPerMinute: "Type how many requests a minute, or empty the field Requests at once.",
};

/**
 * Rewords the faults of a form for its fields, and moves a fault of the key's end to the field that the form shows for
 * it.
 */
export function inFormWords({ fields, whole }: FormErrors, typed: KeyFields): FormErrors {
  const { lifetime, expires } = typed;
  const placed = [...fields].map(([name, fault]) => {
    const empty = typed[name].length === 0 ? WHERE_EMPTY[name] : undefined;
    if (empty !== undefined) return [name, empty] as const;
    if (name !== "expires") return [name, fault] as const;
    if (lifetime !== "date")
      return [
        "lifetime",
        fault.replaceAll(`${FORM_FIELDS.expires.label}: `, `${FORM_FIELDS.lifetime.label}: `),
      ] as const;
    return [name, expires === "" ? "Expires: choose a day and a time, or another lifetime." : fault] as const;
  });
  return { fields: new Map(placed), whole };
}
