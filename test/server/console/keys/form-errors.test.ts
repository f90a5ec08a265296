/** What the form of a new key says of what is typed into it, without a database. */
import { expect, test } from "vitest";
import { formErrorsOf, inFormWords } from "../../../../server/console/keys/form/form-errors.ts";
import { EMPTY_FIELDS, type KeyFields, specOfFields } from "../../../../server/console/keys/form/key-fields.ts";
import { readKey } from "../../../../server/management/keys/request/read-key.ts";

const TYPED: KeyFields = { ...EMPTY_FIELDS, name: "agent", team: "payments", preset: "MCPReadOnly" };

/** The faults of a form, by their fields. */
function faultsOf(typed: Partial<KeyFields>): Record<string, string> {
  const fields = { ...TYPED, ...typed };
  try {
    readKey({ name: fields.name, namespace: "", spec: specOfFields(fields) });
    return {};
  } catch (error) {
    return Object.fromEntries(inFormWords(formErrorsOf(error).errors, fields).fields);
  }
}

test("says nothing of a form that is in order", () => {
  expect(faultsOf({})).toEqual({});
});

const COST = { budgetOf: "cost", budgetCurrency: "USD" } as const;
const TOKENS = { budgetOf: "tokens" } as const;

test.for<[string, Partial<KeyFields>, keyof KeyFields, string]>([
  ["a burst without a rate", { burst: "5" }, "requestsPerMinute", "Type how many requests a minute"],
  ["no number of calls", { concurrent: "many" }, "concurrent", "must be a whole number"],
  ["a network with bits behind its length", { networks: "10.0.0.1/8" }, "networks", "10.0.0.0/8"],
  ["no name", { name: "" }, "name", "Type a name"],
  ["no scope", { preset: "" }, "scopes", "Choose at least one scope"],
  ["a date that is missing", { lifetime: "date" }, "expires", "Expires: choose a day and a time, or another lifetime."],
  ["an end that is none", { lifetime: "date", expires: "tomorrow" }, "expires", "Expires: "],
  ["no number of tokens", { ...TOKENS, budgetAmount: "many" }, "budgetAmount", "write a whole number of tokens"],
  ["a budget of nothing", { ...TOKENS, budgetAmount: "" }, "budgetAmount", "write a whole number of tokens"],
  ["a cost in words", { ...COST, budgetAmount: "five" }, "budgetAmount", "Amount: write what the calls may cost"],
  ["a cost with its sign", { ...COST, budgetAmount: "$5" }, "budgetAmount", "Amount: write what the calls may cost"],
  ["no currency", { ...COST, budgetAmount: "5", budgetCurrency: "" }, "budgetCurrency", "Currency: write its three"],
  ["a sign for a currency", { ...COST, budgetAmount: "5", budgetCurrency: "$" }, "budgetCurrency", "such as USD."],
])("says of %s what to change, at its field and in the words of the form", ([, typed, field, words]) => {
  const faults = faultsOf(typed);
  expect(Object.keys(faults)).toEqual([field]);
  expect(faults[field]).toContain(words);
  expect(faults[field]).not.toContain("spec.");
});
