/** How a plan is shown: as lines, and as data for programs. Its form for pull requests is in `plan-markdown.ts`. */
import { listTitles, type titleOf } from "../../controller/cluster/titles.ts";
import { formatDiagnostic, printable } from "../../domain/manifest/document/diagnostic.ts";
import { MAX_TITLES } from "../data/held.ts";
import type { Plan } from "./make-plan.ts";
import type { PlannedObject } from "./planned-objects.ts";

/** How many objects come, change, go and stay, how many things will not be as declared, and how many are to be looked at. */
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

/** Whether anything is created, changed or deleted. */
export function hasChanges(plan: Plan): boolean {
  return plan.objects.some(({ action }) => action !== "none");
}

/** What one reads first, without what is zero but for the first four. */
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

/** A line for each thing: `+` for what comes, `~` for what changes, `-` for what goes, `!` for what will not be, or is to be looked at. */
export function planLines({ refused, held, objects }: Plan): string[] {
  const lines = [
    ...refused.map((diagnostic) => `! refuse ${formatDiagnostic(diagnostic)}`),
    ...held.map(({ why, objects }) => `! held as before: ${listTitles(objects, MAX_TITLES)}: ${why}`),
    ...objects.flatMap(({ changes }) => changes.map(({ sign, text }) => `${sign} ${text}`)),
  ];
  return lines.map(printable);
}

/** For programs: `counts`, `objects` with what happens to each, `held` and `refused`. */
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

type Named = Parameters<typeof titleOf>[0];

/** What belongs to the whole cluster has no namespace, not an empty one. */
function identity({ kind, namespace, name }: Named): object {
  return { kind, ...(namespace === "" ? {} : { namespace }), name };
}
