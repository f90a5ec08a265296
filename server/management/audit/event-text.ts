/** Texts for the events of the audit log, on its page, on a key's page, and on the command line. */

/** Titles of the actions that a search of the log offers as a filter. Any other action is shown by its name. */
export const EVENT_TITLES: Readonly<Record<string, string>> = {
  "key.reserved": "Version minted",
  "key.activated": "Version came into use",
  "key.retired": "Version ended",
  "key.policy_updated": "Key changed",
  "key.rotation_requested": "Rotation asked for",
  "key.revoked": "Key revoked",
  "key.expiring": "Key expires soon",
  "key.consumer_late": "Old version found in use",
  "key.leaked": "Key reported as leaked",
  "key.budget_reached": "Much of a key's budget used",
  "key.budget_released": "Key's budget given back what ended servers held",
  "key.taken_over": "Key taken over by its declaration",
  "key.released": "Key let go by its declaration",
  "team.created": "Team made",
  "team.changed": "Team changed",
  "team.deleted": "Team deleted",
  "team.budget_reached": "Much of a team's budget used",
  "team.budget_released": "Team's budget given back what ended servers held",
  "subject.revoked": "Tokens and sessions of a subject revoked",
  "webhook.redelivered": "Webhook redelivered by hand",
  "gateway.created": "Gateway made",
  "gateway.changed": "Gateway changed",
  "gateway.deleted": "Gateway deleted",
  "library.created": "Library made",
  "library.changed": "Library changed",
  "library.deleted": "Library deleted",
  "library.subject_erased": "Memory of a subject erased",
  "policies.forgotten": "Policies of a cluster forgotten",
  "session.begun": "Signed in",
  "session.ended": "Session ended",
  "console_link.made": "One-time link made",
  "bootstrap_token.used": "Bootstrap token used",
  "request.refused": "Request refused",
};

/** Texts for what happened to a key or to a budget, with details. */
const ACTIONS: Readonly<Record<string, (detail: Detail) => string>> = {
  "key.reserved": ({ version }) => `Version ${version} was minted`,
  "key.activated": ({ version }) => `Version ${version} came into use`,
  "key.retired": ({ reason }) => (reason === "Leaked" ? "A leaked version ended" : "Old versions ended"),
  "key.policy_updated": ({ changed }) => `Changed: ${changedFields(changed)}`,
  "key.rotation_requested": () => "A new version was asked for",
  "key.expiring": ({ expiresAt }) => `It expires soon, at ${expiresAt}`,
  "key.consumer_late": ({ lateVersion }) => `Version ${lateVersion} was found to be in use still`,
  "key.leaked": ({ version, reporter, url }) => `Version ${version} was reported as leaked${reportedBy(reporter, url)}`,
  "key.budget_reached": budgetReached,
  "team.budget_reached": budgetReached,
  "key.taken_over": ({ namespace, name }) => `Taken over by PlatformKey ${namespace}/${name}`,
  "key.released": () => "Its declaration let go of it",
  "key.revoked": ({ reason }) => `Revoked: ${inWords(String(reason)).toLowerCase()}`,
  "request.refused": ({ reason }) => `Request refused: ${String(reason).replaceAll("_", " ")}`,
};

type Detail = Readonly<Record<string, unknown>>;

/** Describes an event in words, or by its action's name if the action is of a later build. */
export function eventText(action: string, detail: Detail): string {
  return ACTIONS[action]?.(detail) ?? EVENT_TITLES[action] ?? action;
}

function budgetReached({ percent, limit, unit, period, beginsAnewAt, policy }: Detail): string {
  const every = period === "Total" ? "in all" : `a ${String(period).toLowerCase()}`;
  const anew = typeof beginsAnewAt === "string" ? `; it resets at ${beginsAnewAt}` : "";
  const which = typeof policy === "string" ? `the budget that it shares (PlatformKeyPolicy ${policy})` : "its budget";
  return `${percent} % of ${which} of ${limit} ${unit} ${every} are used${anew}`;
}

function reportedBy(reporter: unknown, url: unknown): string {
  if (reporter === "anonymous") return ", by an unknown caller";
  return reporter === "github" ? `, by GitHub${typeof url === "string" ? `: ${url}` : ""}` : "";
}

function changedFields(changed: unknown): string {
  const names = typeof changed === "object" && changed !== null ? Object.keys(changed) : [];
  return names.length === 0 ? "nothing that counts" : names.join(", ");
}

/** Converts a word of the API, such as `ByHand`, to a phrase, such as `By hand`. */
export function inWords(word: string): string {
  const parted = word.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return parted.charAt(0).toUpperCase() + parted.slice(1);
}
