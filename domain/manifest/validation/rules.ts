import { isDeepStrictEqual } from "node:util";
import type { CelRule, Schema } from "../../kinds/schema.ts";
import type { Complaint, Path } from "../document/diagnostic.ts";
import { isRecord } from "../document/identity.ts";
import { compileRule, type RuleProgram } from "./rule-environment.ts";

const programs = new Map<CelRule, RuleProgram>();

/**
 * Checks the rules of a schema beyond the plain keywords: CEL rules (with transition rules if `old` is given) and lists
 * whose entries must differ. As on the API server, a rule is evaluated only if its input is sound: with a fault at its
 * node or below it is skipped, because it could only repeat the fault. A value that has not changed is not judged
 * again,
 * so that an object stored before a rule existed stays valid.
 *
 * @param known the complaints so far
 */
export function checkRules(schema: Schema, value: unknown, old: unknown, known: readonly Complaint[]): Complaint[] {
  return visit(schema, value, old, []);

  function visit(node: Schema, self: unknown, oldSelf: unknown, path: Path): Complaint[] {
    // The schema check reports missing values.
    if (self === undefined || self === null || isDeepStrictEqual(self, oldSelf)) return [];
    const complaints = known.some((complaint) => isWithin(complaint, path)) ? [] : ownRules(node, self, oldSelf, path);
    if (Array.isArray(self)) {
      if (self.length > (node.maxItems ?? Infinity)) return complaints;
      complaints.push(...repeated(node, self, path));
      const { items } = node;
      if (items) complaints.push(...self.flatMap((item, index) => visit(items, item, undefined, [...path, index])));
    } else if (isRecord(self)) {
      for (const [name, field] of Object.entries(node.properties ?? {})) {
        const oldField = isRecord(oldSelf) ? oldSelf[name] : undefined;
        complaints.push(...visit(field, self[name], oldField, [...path, name]));
      }
    }
    return complaints;
  }
}

function ownRules(node: Schema, self: unknown, oldSelf: unknown, path: Path): Complaint[] {
  return (node["x-kubernetes-validations"] ?? [])
    .filter((rule) => oldSelf !== undefined || !rule.rule.includes("oldSelf"))
    .filter((rule) => !holds(rule, self, oldSelf))
    .map((rule) => ({ path: [...path, ...fieldPath(rule)], message: rule.message }));
}

/** True if a rule holds. A rule that cannot be evaluated counts as broken, as on the API server. */
function holds(rule: CelRule, self: unknown, oldSelf: unknown): boolean {
  try {
    return programOf(rule)({ self, oldSelf }) === true;
  } catch {
    return false;
  }
}

function programOf(rule: CelRule): RuleProgram {
  const known = programs.get(rule);
  if (known) return known;
  const program = compileRule(rule.rule);
  programs.set(rule, program);
  return program;
}

function fieldPath(rule: CelRule): string[] {
  return rule.fieldPath?.split(".").slice(1) ?? [];
}

function isWithin({ path, severity }: Complaint, parent: Path): boolean {
  return severity !== "warning" && parent.every((step, depth) => path[depth] === step);
}

/** Finds entries of a set, or of a list keyed by some fields, that repeat an earlier entry. */
function repeated(node: Schema, items: readonly unknown[], path: Path): Complaint[] {
  const type = node["x-kubernetes-list-type"];
  if (type !== "set" && type !== "map") return [];
  const keys = node["x-kubernetes-list-map-keys"];
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const identity = JSON.stringify(keys && isRecord(item) ? keys.map((key) => item[key]) : sorted(item));
    if (!seen.has(identity)) {
      seen.add(identity);
      return [];
    }
    const by = keys === undefined ? "" : `, by its ${keys.join(" and ")}`;
    return [{ path: [...path, index], message: `is in the list twice${by}: remove one of the two` }];
  });
}

function sorted(item: unknown): unknown {
  return isRecord(item) ? Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)) : item;
}
