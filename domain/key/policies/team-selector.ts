import type { PlatformKeyPolicySpec } from "../../kinds/generated/platform-key-policy.ts";

type TeamSelector = PlatformKeyPolicySpec["teamSelector"];
type Expression = NonNullable<TeamSelector["matchExpressions"]>[number];

/** A team as a policy selects it. */
export type SelectableTeam = { readonly name: string; readonly labels: Readonly<Record<string, string>> };

/** True if a policy selects a team: everything in its selector holds, so an empty selector selects every team. */
export function selectsTeam({ matchNames, matchExpressions = [] }: TeamSelector, team: SelectableTeam): boolean {
  return (matchNames?.includes(team.name) ?? true) && matchExpressions.every((one) => holds(one, team.labels));
}

/** True if an expression holds for labels, as in a Kubernetes label selector: NotIn holds if the label is missing. */
function holds({ key, operator, values = [] }: Expression, labels: SelectableTeam["labels"]): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
  }
}
