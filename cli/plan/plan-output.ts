/** Output forms of a plan: lines, and data for programs. The form for pull requests is in `plan-markdown.ts`. */
import { listTitles, type titleOf } from "../../controller/cluster/titles.ts";
import { formatDiagnostic, printable } from "../../domain/manifest/document/diagnostic.ts";
import { MAX_TITLES } from "../data/held.ts";
import type { Plan } from "./make-plan.ts";
import type { PlannedObject } from "./planned-objects.ts";

/**
 * Numbers of objects that are created, changed, deleted and unchanged, of things that cannot become as declared
 * (`blocked`), of things to look at (`warnings`), and of faults (`refused`).
 */
export type PlanCounts = Readonly<
  Record<"create" | "change" | "delete" | "unchanged" | "blocked" | "warnings" | "refused", number>
>;

export function countPlan({ refused, held, objects, unchanged }: Plan): PlanCounts {
  const count = (action: PlannedObject["action"]) => objects.filter((object) => object.action === action).length;
  const marked = objects.flatMap(({ changes }) => changes).filter(({ sign }) => sign === "!");
  const blocked = marked.filter(({ isWarning }) => isWarning !== true).length;
  return {
    create: count("create"),
    change: count("change"),
    delete: count("delete"),
    unchanged,
    blocked,
    warnings: marked.length + held.length,
    refused: refused.length,
  };
}

/** True if anything is created, changed or deleted. */
export function hasChanges(plan: Plan): boolean {
  return plan.objects.some(({ action }) => action !== "none");
}

/** Returns the summary line. Counts of zero are left out, except the first four. */
export function summarize(plan: Plan): string {
  const { create, change, delete: gone, unchanged, warnings, refused } = countPlan(plan);
  const more = [
    ...(refused === 0 ? [] : [`${refused} refused`]),
    ...(warnings === 0 ? [] : [`${warnings} to look at`]),
  ];
  return [`${create} to create`, `${change} to change`, `${gone} to delete`, `${unchanged} unchanged`, ...more].join(
    ", ",
  );
}

/**
 * Returns the lines of a plan: `+` for created, `~` for changed, `-` for removed, `!` for what cannot be as declared or
 * is to be looked at.
 */
export function planLines({ refused, held, objects }: Plan): string[] {
  const lines = [
    ...refused.map((diagnostic) => `! refuse ${formatDiagnostic(diagnostic)}`),
    ...held.map(({ why, objects }) => `! held as before: ${listTitles(objects, MAX_TITLES)}: ${why}`),
    ...objects.flatMap(({ changes }) => changes.map(({ sign, text }) => `${sign} ${text}`)),
  ];
  return lines.map(printable);
}

/** Returns the plan for programs: `counts`, `objects` with what happens to each, `held` and `refused`. */
export function planDocument(plan: Plan): object {
  return {
    counts: countPlan(plan),
    objects: plan.objects.map(({ kind, namespace, name, action, changes }) => ({
      ...identity({ kind, namespace, name }),
      action,
      changes: changes.map(({ sign, text, change }) => ({ sign, text, ...change })),
    })),
    held: plan.held.map(({ why, objects }) => ({ why, objects: objects.map(identity) })),
    refused: plan.refused.map(({ file, line, column, path, message }) => ({ file, line, column, path, message })),
  };
}

type PlanTitle = Parameters<typeof titleOf>[0];

/** Returns the identity of an object. A cluster-wide object has no namespace, not an empty one. */
function identity({ kind, namespace, name }: PlanTitle): object {
  return { kind, ...(namespace === "" ? {} : { namespace }), name };
}
