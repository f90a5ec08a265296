import type { Db } from "../../store/database/change.ts";
import { replicasWithSpareToken } from "../../store/feed/replicas.ts";
import { type Finding, note, ok } from "./finding.ts";

/** Whether a bootstrap token stands beside an issuer: it opens every team's keys, and is nobody's in particular. */
export async function checkBootstrapToken(db: Db): Promise<Finding[]> {
  const replicas = await replicasWithSpareToken(db);
  if (replicas.length === 0) return [ok("no bootstrap token stands beside an issuer")];
  const count = replicas.length === 1 ? "1 server takes" : `${replicas.length} servers take`;
  const message = `${count} a bootstrap token although an issuer is configured (${replicas.join(", ")})`;
  return [note(`${message}: once JWTs let people in, start them without --bootstrap-token-file`)];
}
