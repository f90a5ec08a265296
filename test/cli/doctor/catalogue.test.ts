import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { FINDING_NAMES } from "../../../cli/doctor/finding.ts";
import { CONTROLLER_RULES, NAMESPACE_RULES, type Rule } from "../../../cli/doctor/rights.ts";
import { filesBelow, read } from "../../architecture/sources.ts";

test("doctor's findings are all on its page, and the page names no others", () => {
  const page = read("docs/operations/doctor.md");
  const named = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(FINDING_NAMES.toSorted());
});

test("doctor's findings are each stated somewhere", () => {
  const sources = filesBelow("cli/doctor", ".ts")
    .filter((file) => !file.endsWith("/finding.ts"))
    .map(read)
    .join("\n");
  expect(FINDING_NAMES.filter((name) => !sources.includes(`"${name}"`))).toEqual([]);
});

test("doctor asks for the rights that infra/rbac grants, for all of them", () => {
  expect(granted("controller.yaml")).toEqual(texts(Object.values(CONTROLLER_RULES).flat()));
  expect(granted("namespace.yaml")).toEqual(texts(NAMESPACE_RULES));
});

type Role = {
  readonly kind: string;
  readonly rules?: readonly { apiGroups: string[]; resources: string[]; verbs: string[] }[];
};

function granted(file: string): string[] {
  const text = readFileSync(join(import.meta.dirname, "../../../infra/rbac", file), "utf8");
  const roles = parseAllDocuments(text).map((document): Role => document.toJS());
  return roles
    .flatMap(({ rules = [] }) => rules)
    .flatMap(({ apiGroups, resources, verbs }) => apiGroups.flatMap((group) => texts([{ group, resources, verbs }])))
    .sort();
}

function texts(rules: readonly Rule[]): string[] {
  return rules
    .flatMap(({ group, resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`)),
    )
    .sort();
}
