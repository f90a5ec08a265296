/** Check of gateways' upstreams: do they answer, judging by the calls of the last hour? */
import { rfc3339 } from "../../domain/rfc3339.ts";
import type { Db } from "../../store/database/change.ts";
import { silentUpstreams } from "../../store/gateways/upstream-outcomes.ts";
import { type Finding, note, ok } from "./finding.ts";

/** Largest number of upstreams that findings name. */
const MAX_NAMED = 10;
const ACTION =
  "look at its baseURL and at the provider; a private address needs --allow-private-upstreams; the servers' log says why, at `an upstream failed`";

/**
 * Reports each upstream whose last call within an hour had no answer. That is a note: one call may have been slow, and
 * fallbacks may answer in its place.
 */
export async function checkSilentUpstreams({ db }: { readonly db: Db }): Promise<Finding[]> {
  const silent = await silentUpstreams(db, MAX_NAMED + 1);
  if (silent.length === 0)
    return [ok("upstreams", "each upstream that was called in the last hour answered its last call")];
  const findings = silent.slice(0, MAX_NAMED).map(({ namespace, name, upstream, failure, failedAt, answeredAt }) => {
    const title = namespace === "" ? name : `${namespace}/${name}`;
    const last = answeredAt === null ? "it never answered" : `its last answer was at ${rfc3339(answeredAt)}`;
    const message = `upstream ${upstream} of ModelGateway ${title} gave no answer at ${rfc3339(failedAt)}, and ${last}: ${failure}`;
    return note("upstreams", message, ACTION);
  });
  if (silent.length > MAX_NAMED) findings.push(note("upstreams", "nor did others", "see the console's page Now"));
  return findings;
}
