import type { Violation } from "../../../../domain/key/policies/judge-key.ts";
import type { TeamPolicies } from "../../../../domain/key/policies/team-policies.ts";
import { Problem, problem } from "../../../http/problems/problem.ts";

/** Refusal of a key that breaks policies of its team: a problem `invalid` that names each policy and its rule. */
export class PolicyRefusal extends Problem {
  readonly violations: readonly Violation[];

  /** Names each violation in the problem. @param violations at least one violation */
  constructor(violations: readonly Violation[]) {
    const errors = violations.map(({ field, message, policy, rule }) => ({
      ...{ path: field, message: `${message} (PlatformKeyPolicy ${policy}, ${rule})` },
      ...{ policy, rule },
    }));
    const [first, ...more] = errors;
    const others = more.length > 0 ? ` (and ${more.length} more)` : "";
    super("invalid", first && `${first.path} ${first.message}${others}.`, undefined, { errors });
    this.violations = violations;
  }
}

/** Refuses changes while a policy cannot be read. */
export function unreadablePolicies(unreadable: TeamPolicies["unreadable"]): Problem {
  return problem("conflict", `${unreadable.join(" ")} No key of this team is made or changed meanwhile.`);
}
