import type { PlatformKeyPolicySpec } from "../../kinds/generated/platform-key-policy.ts";

type TeamSelector = PlatformKeyPolicySpec["teamSelector"];
type Expression = NonNullable<TeamSelector["matchExpressions"]>[number];

/** A team as a policy selects it. */
export type SelectableTeam = { readonly name: string; readonly labels: Readonly<Record<string, string>> };

/** Whether a policy is for a team: all that its selector says holds of it, so that an empty one is for every team. */
export function selectsTeam({ matchNames, matchExpressions = [] }: TeamSelector, team: SelectableTeam): boolean {
  return (matchNames?.includes(team.name) ?? true) && matchExpressions.every((one) => holds(one, team.labels));
}

/** As a label selector of Kubernetes: NotIn holds where the label is not there. */
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
